#include "reporting/analysis/missing/missing_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "reporting/analysis/missing/missing_edits.h"
#include "reporting/analysis/results/imported.h"
#include "reporting/analysis/results/rows.h"
#include "reporting/analysis/scores/measured.h"
#include "reporting/analysis/statistics/contrast.h"
#include "reporting/analysis/trace/origins.h"
#include "results_db/sweep_heads.h"
#include "results_db/trial_name.h"

namespace deft::reporting {

namespace {

// FLOP/s and dollars a second of training, over the sweep's finished trials; 0: unknown.
struct Rates {
    double flops = 0, usd = 0, scoring_seconds = 0;  // the last of one task

    explicit Rates(const Results& sweep) {
        double flops_sum = 0, seconds = 0, priced_seconds = 0, usd_sum = 0, scored_seconds = 0;
        std::int64_t scored = 0;
        std::set<std::string> seen;  // places of a sweep may share a training
        for (const Trial& trial : sweep.trials) {
            if (trial.state != "ok" || !seen.insert(trial.config_hash).second) continue;
            if (const std::int64_t tasks = static_cast<std::int64_t>(trial.asked.size()) - trial.unscored();
                tasks > 0 && trial.eval_seconds > 0) {
                scored += tasks;
                scored_seconds += trial.eval_seconds;
            }
            if (!trial.last_point || !(trial.train_seconds > 0)) continue;
            flops_sum += trial.last_point->flops;
            seconds += trial.train_seconds;
            if (!trial.usd) continue;
            priced_seconds += trial.train_seconds;
            usd_sum += *trial.usd;
        }
        if (seconds > 0) flops = flops_sum / seconds;
        if (priced_seconds > 0) usd = usd_sum / priced_seconds;
        if (scored > 0) scoring_seconds = scored_seconds / static_cast<double>(scored);
    }
};

struct Cost {
    std::optional<double> flops, seconds, usd;
};

// A finished trial of that row: it differs from the others in its seed alone.
const Trial* finished_sibling(const Row& row) {
    for (const Trial* trial : row.ok)
        if (trial->last_point && trial->train_seconds > 0) return trial;
    return nullptr;
}

Cost training_cost(const Row& row, const Trial& trial, const Rates& rates, const MissingEstimates& estimates) {
    Cost cost;
    if (const Trial* sibling = finished_sibling(row)) {
        cost.flops = sibling->last_point->flops;
        cost.seconds = sibling->train_seconds;
        cost.usd = sibling->usd;
        return cost;
    }
    const auto planned = estimates.planned_flops.find(trial.config_hash);
    if (planned == estimates.planned_flops.end()) return cost;
    cost.flops = planned->second;
    if (rates.flops > 0) cost.seconds = *cost.flops / rates.flops;
    if (cost.seconds && rates.usd > 0) cost.usd = *cost.seconds * rates.usd;
    return cost;
}

void set_cost(MissingRun& run, const Cost& cost, double times = 1) {
    const auto scaled = [&](const std::optional<double>& value) {
        return value ? std::optional(*value * times) : value;
    };
    run.flops = scaled(cost.flops);
    run.seconds = scaled(cost.seconds);
    run.usd = scaled(cost.usd);
}

std::string command_of(const std::string& selector, const std::string& only, const std::string& more,
                       const MissingEstimates& estimates) {
    return fmt::format("./deft run --for-table {} --only {}{} --root {}", shell_word(selector), shell_word(only), more,
                       shell_word(estimates.root));
}

// Runs everything that the sweep lacks, including its search.
std::string command_of_table(const std::string& selector, const MissingEstimates& estimates) {
    return "./deft run --for-table " + shell_word(selector) + " --root " + shell_word(estimates.root);
}

std::string why_unfinished(const Trial& trial) {
    std::string why = trial.fail_class.empty() || trial.fail_class == trial.state
                          ? trial.state
                          : trial.state + ", " + trial.fail_class;
    if (trial.fail_class == "nan") why += ": this seed diverges again";
    return why;
}

std::vector<std::string> unscored_tasks(const Trial& trial) {
    std::vector<std::string> tasks;
    for (const results_db::AskedScore& asked : trial.asked)
        if (!asked.is_scored)
            tasks.push_back(asked.task + (asked.shots > 0 ? fmt::format(" ({} shots)", asked.shots) : ""));
    return tasks;
}

void add_trials(const Row& row, const std::string& selector, const Rates& rates, const MissingEstimates& estimates,
                std::set<std::string>& seen, std::vector<MissingRun>& runs) {
    for (const Trial* trial : row.trials) {
        const std::vector<std::string> tasks = unscored_tasks(*trial);
        if (trial->state == "ok" && tasks.empty()) continue;
        MissingRun run;
        run.name = results_db::trial_name(*trial);
        run.command = command_of(selector, run.name, "", estimates);
        if (trial->state == "ok") {
            run.lack = Lack::scoring;
            run.why = fmt::format("{} not evaluated", fmt::join(tasks, ", "));
            run.fills = fmt::format("{} of {}", fmt::join(tasks, ", "), row.name);
            if (rates.scoring_seconds > 0) run.seconds = rates.scoring_seconds * static_cast<double>(tasks.size());
        } else {
            run.why = why_unfinished(*trial);
            run.fills = "all of " + row.name;
            if (!is_imported(row)) set_cost(run, training_cost(row, *trial, rates, estimates));
            if (!seen.insert(trial->config_hash).second) {  // another place of the sweep shares it
                set_cost(run, {0, 0, run.usd ? std::optional(0.0) : std::nullopt});
                run.why += ", shares the training above";
            }
        }
        runs.push_back(std::move(run));
    }
}

// "1,2,3": the seeds that there are, and as many new ones as are lacking.
std::string enough_seeds(const std::vector<std::int64_t>& seeds) {
    std::vector<std::int64_t> all = seeds;
    for (std::int64_t next = 1; all.size() < kFewestSeeds; ++next)
        if (std::find(all.begin(), all.end(), next) == all.end()) all.push_back(next);
    return fmt::format("{}", fmt::join(all, ","));
}

std::vector<std::int64_t> units_of(const Row& row) {
    std::vector<std::int64_t> units;
    for (const Trial* trial : row.trials) {
        const std::int64_t seed = std::stoll(unit_seed(*trial));
        if (std::find(units.begin(), units.end(), seed) == units.end()) units.push_back(seed);
    }
    return units;
}

std::string verdicts_text(const Row& row, const SweepAbout& about) {
    std::vector<std::string> claims = about.published ? claims_of(*about.published, row) : std::vector<std::string>();
    return claims.empty() ? "a verdict on " + row.name : fmt::format("verdicts: {}", fmt::join(claims, ", "));
}

void add_seeds(const Row& row, const SweepAbout& about, const std::string& selector, const Rates& rates,
               const MissingEstimates& estimates, std::vector<MissingRun>& runs) {
    if (is_imported(row)) return;
    const std::vector<std::int64_t> units = units_of(row);
    if (units.empty() || units.size() >= kFewestSeeds) return;
    MissingRun run;
    run.lack = Lack::seeds;
    const std::size_t lacking = kFewestSeeds - units.size();
    run.name = fmt::format("{}: {}", row.name, counted(lacking, "more seed"));
    run.why = fmt::format("{} of {} seeds", units.size(), kFewestSeeds);
    run.fills = verdicts_text(row, about);
    run.command = command_of(selector, row.name, " --seeds " + shell_word(enough_seeds(units)), estimates);
    const double trials_a_unit = static_cast<double>(row.trials.size()) / static_cast<double>(units.size());
    set_cost(run, training_cost(row, *row.trials.front(), rates, estimates),
             static_cast<double>(lacking) * trials_a_unit);
    runs.push_back(std::move(run));
}

// Unfinished trials of [search]. A diverged rate counts as finished.
void add_search(const Results& sweep, const std::string& selector, const MissingEstimates& estimates,
                std::vector<MissingRun>& runs) {
    for (const Trial& trial : sweep.searched) {
        if (trial.state != "ok" && trial.fail_class == "nan") continue;
        const std::vector<std::string> tasks = unscored_tasks(trial);
        if (trial.state == "ok" && tasks.empty()) continue;
        MissingRun run;
        run.lack = trial.state == "ok" ? Lack::scoring : Lack::training;
        run.name = results_db::trial_name(trial);
        run.why = trial.state == "ok" ? fmt::format("{} not evaluated", fmt::join(tasks, ", ")) : why_unfinished(trial);
        run.fills = "the learning rate of " + trial.recipe + ", which the sweep needs first";
        run.command = command_of_table(selector, estimates);
        const auto planned = estimates.planned_flops.find(trial.config_hash);
        if (run.lack == Lack::training && planned != estimates.planned_flops.end()) run.flops = planned->second;
        runs.push_back(std::move(run));
    }
}

// Known times before known FLOPs, those before nothing known.
auto rank_of(const MissingRun& run) {
    constexpr double kUnknown = std::numeric_limits<double>::infinity();
    return std::tuple(run.seconds.value_or(kUnknown), run.flops.value_or(kUnknown));
}

// Whether the sweep as it is runs it.
bool is_left(const MissingRun& run) {
    return run.lack == Lack::training || run.lack == Lack::scoring;
}

// All that can be run: what the sweep has left, and the seeds that verdicts need where all rows have the same seeds.
std::string command_of_all(const std::vector<Row>& rows, const std::vector<MissingRun>& runs,
                           const std::string& selector, const MissingEstimates& estimates) {
    const bool lacks_seeds =
        std::any_of(runs.begin(), runs.end(), [](const MissingRun& run) { return run.lack == Lack::seeds; });
    std::set<std::vector<std::int64_t>> seeds;
    for (const Row& row : rows)
        if (!is_imported(row)) seeds.insert(units_of(row));
    if (lacks_seeds && seeds.size() == 1)
        return command_of_table(selector, estimates) + " --seeds " + shell_word(enough_seeds(*seeds.begin()));
    return std::any_of(runs.begin(), runs.end(), is_left) ? command_of_table(selector, estimates) : std::string();
}

}  // namespace

MissingRuns missing_runs(const Results& sweep, const SweepAbout& about, const MissingEstimates& estimates) {
    const std::string selector = results_db::full_name(sweep);
    const std::vector<Row> rows = rows_of(sweep);
    const Rates rates(sweep);
    MissingRuns missing;
    std::set<std::string> seen;
    add_search(sweep, selector, estimates, missing.runs);
    for (const Row& row : rows) {
        add_trials(row, selector, rates, estimates, seen, missing.runs);
        add_seeds(row, about, selector, rates, estimates, missing.runs);
        if (const std::string why = not_measured(row); !why.empty())
            missing.runs.push_back({Lack::edit,
                                    row.name,
                                    why,
                                    "scores of " + row.name,
                                    {},
                                    {},
                                    {},
                                    "train it longer or shorten its schedules; it does not count as measured"});
    }
    if (about.published)
        for (MissingRun& run : missing_edits(sweep, rows, *about.published)) missing.runs.push_back(std::move(run));
    // Edits, which have no estimate, come after all others.
    std::stable_sort(missing.runs.begin(), missing.runs.end(),
                     [](const MissingRun& a, const MissingRun& b) { return rank_of(a) < rank_of(b); });
    missing.command = command_of_all(rows, missing.runs, selector, estimates);
    return missing;
}

}  // namespace deft::reporting
