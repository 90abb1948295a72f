#include "sweeps/driver/search_rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "reporting/analysis/load_results.h"
#include "reporting/analysis/search/rate_search.h"
#include "results_db/trial_name.h"
#include "sweeps/driver/check_tasks.h"
#include "sweeps/driver/stored_results.h"
#include "sweeps/spec/rate_search.h"

namespace deft::sweeps {

namespace {

std::string rate_text(const reporting::SearchedRow& row) {
    return fmt::format("{} {:g}{}", row.name(), row.rates[*row.best].rate,
                       row.is_at_end() ? " (at the end of the list)" : "");
}

// Nothing while a trial of it has not ended.
std::optional<std::map<std::string, double>> found_rates(const std::vector<reporting::SearchedRow>& rows) {
    std::map<std::string, double> rates;
    for (const reporting::SearchedRow& row : rows) {
        if (!row.is_whole()) return std::nullopt;
        if (!row.best)
            throw Error(ErrorKind::missing, fmt::format("every learning rate of [search] diverged for {}", row.name()),
                        "put smaller ones before them", "what was trained is kept");
        rates[row_name(row.recipe, row.axes)] = row.rates[*row.best].rate;
    }
    return rates;
}

// The database's record of the search.
std::vector<reporting::Trial> stored_trials(const Spec& searching, const DriverOptions& options) {
    const auto reader = stored_results(options);
    const auto name = reader ? stored_name(*reader, searching) : std::nullopt;
    return name ? reporting::load_results(*reader, *name, reporting::unknown_inputs()).searched
                : std::vector<reporting::Trial>();
}

// A rate that diverged would do so again.
void leave_diverged(std::vector<Trial>& trials, const std::vector<reporting::Trial>& stored) {
    for (Trial& trial : trials)
        trial.is_left = std::any_of(stored.begin(), stored.end(), [&](const reporting::Trial& row) {
            return row.config_hash == trial.config_hash && row.state != "ok" && row.fail_class == "nan";
        });
}

std::optional<std::map<std::string, double>> stored_rates(const Spec& searching, const DriverOptions& options,
                                                          Progress& progress) {
    const std::vector<reporting::Trial> stored = stored_trials(searching, options);
    const std::vector<reporting::SearchedRow> rows = reporting::searched_rows(stored);
    auto rates = found_rates(rows);
    if (!rates) return rates;
    std::string said;
    for (const reporting::SearchedRow& row : rows) said += (said.empty() ? "" : ", ") + rate_text(row);
    progress.event("the best learning rates of the search: " + said);
    return rates;
}

}  // namespace

Search search_rates(const Spec& spec, const SlotRequest& slots, int threads, const DriverOptions& options) {
    if (!spec.search) return {spec, true, {}};
    const Spec searching = while_searching(spec);
    std::vector<Trial> trials = expand_search(spec);
    const std::vector<reporting::Trial> stored = stored_trials(searching, options);
    leave_diverged(trials, stored);
    // The table's tasks too: the search asks none of them, and the table would find a mistake after it.
    if (!options.dry_run && (stored.empty() || !found_rates(reporting::searched_rows(stored))))
        check_tasks(expand(spec));
    Progress progress(options.progress, options.narration);
    progress.event(fmt::format("search of the learning rate, before the table: {}", counted(trials.size(), "trial")));
    DriverOptions of_search = options;
    of_search.only.clear();
    of_search.threads = threads_for(threads > 0 ? threads : spec.threads, slots, trials);
    of_search.slots = make_slots(slots, of_search.threads, trials);
    of_search.slots_note = unused_gpus(slots);
    Search search{spec, true, run_sweep(searching, trials, of_search)};
    if (options.dry_run) return search;
    // Whoever stopped the search wants no table yet, were it the last trial of it that was let finish.
    if (auto rates = search.summary.is_stopped ? std::nullopt : stored_rates(searching, options, progress)) {
        search.spec = with_rates(spec, std::move(*rates));
        return search;
    }
    progress.warning("the search is incomplete, so the table is not trained. To resume: " + options.continue_with);
    search.is_whole = false;
    if (search.summary.exit_code == 0) search.summary.exit_code = kExitWorkLeft;
    return search;
}

namespace {

// The table's sweep; nothing where its search is not whole.
std::optional<Spec> spec_with_rates(const Spec& spec, const reporting::Results& results) {
    if (!spec.search) return spec;
    const std::vector<reporting::SearchedRow> rows = reporting::searched_rows(results.searched);
    if (!std::all_of(rows.begin(), rows.end(), [](const auto& row) { return row.best.has_value(); }))
        return std::nullopt;
    if (auto rates = found_rates(rows)) return with_rates(spec, std::move(*rates));
    return std::nullopt;
}

// A row of a table: stage, recipe and axes.
using RowKey = std::array<std::string, 3>;

// Training at a place and the scores asked of it, by the place's row and seeds.
using Planned = std::map<std::pair<RowKey, std::string>, std::pair<std::string, std::vector<std::string>>>;

}  // namespace

std::optional<Spec> spec_of_results(const Spec& spec, const reporting::Results& results) {
    if (spec.sha256 == results.spec_sha256) return spec;
    if (!spec.search) return std::nullopt;
    if (Spec searching = while_searching(spec); searching.sha256 == results.spec_sha256) return searching;
    auto found = spec_with_rates(spec, results);
    if (!found || found->sha256 != results.spec_sha256) return std::nullopt;
    return found;
}

std::optional<Spec> spec_of_trials(const Spec& spec, const reporting::Results& results) {
    auto found = spec_with_rates(spec, results);
    if (!found) return std::nullopt;
    Planned planned;
    std::set<RowKey> rows;
    for (const Trial& trial : expand(*found, Data::may_be_missing)) {
        const RowKey row = {trial.stage, trial.recipe, canonical_json(trial.axes)};
        rows.insert(row);
        planned[{row, results_db::seeds_text(trial.seeds)}] = {trial.config_hash, trial.score_keys()};
    }
    for (const reporting::Trial& trial : results.trials) {
        const RowKey row = {trial.stage, trial.recipe, trial.axes_json};
        const auto same = planned.find({row, trial.seeds.empty() ? std::to_string(trial.seed) : trial.seeds});
        std::vector<std::string> keys;
        for (const results_db::AskedScore& asked : trial.asked) keys.push_back(asked.key);
        if (same == planned.end() || same->second != std::pair(trial.config_hash, keys)) return std::nullopt;
        rows.erase(row);
    }
    if (!rows.empty()) return std::nullopt;
    return found;
}

std::vector<Trial> trials_of_results(const Spec& spec, Data data) {
    if (!spec.search || !spec.found_rates.empty()) return expand(spec, data);
    return expand_search(spec, 0, data);
}

std::vector<Trial> with_search(const Spec& spec, std::vector<Trial> trials) {
    if (!spec.search || spec.found_rates.empty()) return trials;
    for (Trial& trial : expand_search(spec, static_cast<std::int64_t>(trials.size()))) {
        trial.is_left = true;
        trials.push_back(std::move(trial));
    }
    return trials;
}

}  // namespace deft::sweeps
