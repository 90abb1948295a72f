#include "sweeps/driver/plan_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/json.h"
#include "base/text.h"
#include "reporting/numbers.h"

namespace deft::sweeps {

namespace {

std::string devices_text(const experiments::DeviceUse& use) {
    return fmt::format("{} {}", use.devices, use.device.name);
}

bool any_of_bert(const Plan& plan) {
    return std::any_of(plan.rows.begin(), plan.rows.end(), [](const PlanRow& row) {
        return row.trial.config.data.samples == experiments::SampleKind::bert;
    });
}

std::string dollars_text(const Plan& plan, double dollars) {
    return reporting::dollars(dollars) + (plan.price && plan.price->is_implied ? " (implied)" : "");
}

// Trials whose number of steps is unknown.
std::string not_counted_text(std::size_t trials) {
    return trials == 0 ? "" : fmt::format("; {} of them not counted", trials);
}

std::size_t trials_without_steps(const Plan& plan) {
    std::size_t trials = 0;
    for (const PlanRow& row : plan.rows)
        if (!row.trial.projection.has_steps) trials += row.trained;
    return trials;
}

std::string total_note(const Plan& plan) {
    std::string note = fmt::format("{} trials", plan.trials);
    if (plan.places > plan.trials)
        note += fmt::format(" for {} entries of the sweep, because some share a training", plan.places);
    if (plan.flops > 0) note += fmt::format(", {} in total", reporting::si(plan.flops, "FLOP"));
    if (plan.hours) note += fmt::format(": {:.1f} hours of {}", *plan.hours, devices_text(*plan.device));
    if (plan.dollars) note += ", " + dollars_text(plan, *plan.dollars);
    return note + not_counted_text(trials_without_steps(plan)) + ".";
}

// The share of one stage in the total.
// A training that several rows share counts once.
std::string search_note(const Spec& spec) {
    std::map<std::string, double> flops;
    std::size_t not_counted = 0;
    for (const Trial& trial : expand_search(spec, 0, Data::may_be_missing))
        not_counted += flops.emplace(trial.config_hash, trial.projection.flops).second && !trial.projection.has_steps;
    double sum = 0;
    for (const auto& [hash, of_trial] : flops) sum += of_trial;
    return fmt::format(
        "Learning-rate search: {} at {:g}, {}, in addition to the total. Trials then use the best rate of their row; "
        "the plan counts them at the file's rate.",
        counted(flops.size(), "trial"), fmt::join(spec.search->learning_rates, ", "),
        reporting::si(sum, "FLOP") + not_counted_text(not_counted));
}

std::string stage_note(const Plan& plan, const Stage& stage) {
    std::size_t trials = 0, not_counted = 0;
    double flops = 0, hours = 0, dollars = 0;
    for (const PlanRow& row : plan.rows) {
        if (row.trial.stage != stage.name) continue;
        const auto trained = static_cast<double>(row.trained);
        trials += row.trained;
        if (!row.trial.projection.has_steps) not_counted += row.trained;
        flops += trained * row.trial.projection.flops;
        hours += trained * row.hours.value_or(0);
        dollars += trained * row.dollars.value_or(0);
    }
    std::string note = fmt::format("Stage {}{}: {}, {}", stage.name, stage.from.empty() ? "" : ", from " + stage.from,
                                   counted(trials, "trial"), reporting::si(flops, "FLOP"));
    if (plan.hours) note += fmt::format(", {:.1f} hours", hours);
    if (plan.dollars) note += ", " + dollars_text(plan, dollars);
    return note + not_counted_text(not_counted) + ".";
}

// How far the rows that were not fitted are from what was published.
std::string prediction_note(const Plan& plan) {
    std::vector<double> errors;
    for (const PlanRow& row : plan.rows)
        for (const Comparison& compared : comparisons(plan, row))
            if (const auto error = compared.error_percent(); error && !compared.is_fitted) errors.push_back(*error);
    if (errors.empty()) return {};
    const auto [least, most] = std::minmax_element(errors.begin(), errors.end());
    const std::string range = errors.size() == 1 ? "" : fmt::format("{:+.1f}% to ", *least);
    return fmt::format(" Predicted: {}, {}{:+.1f}% off.", counted(errors.size(), "published number"), range, *most);
}

std::string share_of_peak(const experiments::DeviceUse& use, const std::string& share) {
    return fmt::format("FLOPs / ({} x {} in {} x {})", devices_text(use), reporting::si(use.peak_flops(), "FLOP/s"),
                       use.dtype, share);
}

std::string hours_note(const Plan& plan, const std::string& fitted_on) {
    const experiments::DeviceUse& use = *plan.device;
    if (use.peak_flops() == 0)
        return fmt::format("No hours: {} has no published peak. Its source: {}.", use.device.name, use.device.source);
    if (!plan.lacks.empty()) return fmt::format("No hours: {}.", plan.lacks);
    const std::string beside = plan.counts_exchange ? ", plus the time of communication and weight updates" : "";
    if (const PlanRow* fitted = plan.fitted_row()) {
        const PublishedValue& on = fitted->published_hours ? *fitted->published_hours : *fitted->published_rate;
        return fmt::format(
            "Hours: {}, where the last factor is fitted on the {} published {} of {} at {:g}% and shared by all "
            "rows{}.{}"
            " Peak: {}.",
            share_of_peak(use, fmt::format("{:.4f}", use.utilisation)), on.cell.number.text,
            fitted->published_hours ? "hours" : on.unit, fitted->trial.recipe,
            100 * fitted->trial.config.train.budget_fraction, beside, prediction_note(plan), use.device.source);
    }
    if (use.utilisation == 0)
        return fmt::format("No hours: the plan fits them on the published hours of {}, {}.", fitted_on,
                           plan.not_fitted);
    const std::string instead =
        plan.not_fitted.empty()
            ? ""
            : fmt::format(", in place of a fit on the published times of {}, {}", fitted_on, plan.not_fitted);
    return fmt::format(
        "Hours: {}, where the last factor is the utilisation that the sweep sets for all rows{}{}. Peak: {}.",
        share_of_peak(use, fmt::format("{:g}", use.utilisation)), instead, beside, use.device.source);
}

std::string rate_text(const experiments::Device& device, std::int64_t devices) {
    const auto path = experiments::path_between(device, devices);
    return fmt::format("{} a device over {} ({})", reporting::si(path->bytes_per_second, "B/s"), path->name,
                       path->source);
}

// For a plan that counts the traffic between devices, and has hours.
std::string beside_note(const Plan& plan) {
    const experiments::Device& device = plan.device->device;
    std::int64_t expert_ranks = 1;
    for (const PlanRow& row : plan.rows)
        if (row.beside) expert_ranks = std::max(expert_ranks, row.trial.config.train.expert_ranks);
    std::string note = fmt::format(
        "Communication and weight updates, without overlap or latency: the bytes that leave a device in the average "
        "step, at {}",
        rate_text(device, plan.device->devices));
    if (experiments::path_between(device, expert_ranks)->name !=
        experiments::path_between(device, plan.device->devices)->name)
        note += fmt::format(", tokens to experts and back at {}", rate_text(device, expert_ranks));
    return note + fmt::format(
                      "; and the weight update at {} of device memory. Routing is assumed to be balanced. deft splits "
                      "no layer over devices: each device sums all gradients except those of other devices' experts.",
                      reporting::si(device.memory_bytes_per_second, "B/s"));
}

std::string memory_note(const Plan& plan) {
    std::set<std::int64_t> samples;
    std::set<std::string> dtypes;
    std::int64_t most = 0;
    for (const PlanRow& row : plan.rows) {
        samples.insert(row.trial.config.train.micro_batch_size);
        dtypes.insert(deft::name_of(row.trial.config.train.dtype));
        most = std::max(most, row.trial.projection.memory_bytes);
    }
    std::string note = fmt::format(
        "Memory: one device with micro_batch_size = {} samples and dtype = {}, every buffer"
        " as the engine plans it, nothing sharded over devices.",
        fmt::join(samples, ", "), fmt::join(dtypes, ", "));
    const experiments::Device& device = plan.device->device;
    if (device.memory_bytes == 0) return note;
    note += fmt::format(" {}: {:g} GB", device.title, static_cast<double>(device.memory_bytes) / 1e9);
    return note + (most > device.memory_bytes ? ", which does not hold this plan." : ".");
}

std::string price_note(const Plan& plan) {
    if (!plan.price) return "No cost: set [price] in the sweep file.";
    const PlanPrice& price = *plan.price;
    if (price.is_implied)
        return fmt::format(
            "Implied cost: devices x hours x ${:.4g} an hour, {}. The price itself is not published: it is the "
            "quotient of these two numbers.",
            price.usd_per_hour, price.source);
    return fmt::format("Cost: devices x hours x ${:g} an hour of {} ({}, {}).", price.usd_per_hour, price.sku,
                       price.date, price.source);
}

std::string published_note(const reporting::PublishedTable& table) {
    return fmt::format("Published: {}. {} ({}), at {}.", table.label, table.paper, table.source, table.scale);
}

// The sources of the published numbers, and doubts about them.
void add_published_notes(const Plan& plan, std::vector<std::string>& notes) {
    std::set<std::tuple<std::string, std::string, std::string>> shown;  // table, row, column
    for (const PlanRow& row : plan.rows)
        for (const Comparison& compared : comparisons(plan, row))
            shown.insert({compared.published->table, compared.published->row, compared.published->column});
    std::set<std::string> seen;
    for (const auto* table : {&plan.fitted_in, &plan.published}) {
        if (!*table || !seen.insert((*table)->name).second) continue;
        const std::string& name = (*table)->name;
        if (std::none_of(shown.begin(), shown.end(), [&](const auto& cell) { return std::get<0>(cell) == name; }))
            continue;
        notes.push_back(published_note(**table));
        const auto is_shown = [&](const reporting::PublishedRow& row, const reporting::PublishedColumn& column) {
            return shown.count({name, row.name(), column.key}) > 0;
        };
        for (std::string& note : reporting::doubt_notes(**table, is_shown)) notes.push_back(std::move(note));
    }
}

// Rows that import a model without training it, and their stated training.
void add_imported_notes(const Plan& plan, std::vector<std::string>& notes) {
    for (const PlanRow& row : plan.rows) {
        if (!experiments::is_imported(row.trial.config)) continue;
        const experiments::StartConfig& start = *row.trial.config.start;
        std::string note = fmt::format("Imported, not trained: {}: {}, from {} (sha256 {}).", row.trial.recipe,
                                       start.format, start.from, short_hash(start.sha256));
        std::vector<std::string> stated;
        if (start.stated.tokens > 0) stated.push_back(reporting::si(start.stated.tokens) + " tokens");
        if (start.stated.flops > 0) stated.push_back(reporting::si(start.stated.flops, "FLOP"));
        if (start.stated.hours > 0) stated.push_back(fmt::format("{:g} hours", start.stated.hours));
        if (start.stated.usd > 0) stated.push_back(reporting::dollars(start.stated.usd));
        if (!stated.empty())
            note += fmt::format(" Stated training, not counted: {}{}.", fmt::join(stated, ", "),
                                start.stated.source.empty() ? "" : " (" + start.stated.source + ")");
        notes.push_back(std::move(note));
    }
}

void add_missing_data_note(const Plan& plan, std::vector<std::string>& notes) {
    std::set<std::string> missing;
    for (const PlanRow& row : plan.rows) {
        const experiments::TrialConfig& config = row.trial.config;
        if (config.data.sha256 == experiments::kDataMissing && row.trial.projection.has_steps)
            for (std::string& name : experiments::missing_data(config)) missing.insert(std::move(name));
        if (config.start && config.start->sha256 == experiments::kDataMissing)
            missing.insert(experiments::start_path(config).string());
        if (!config.curriculum) continue;
        for (const experiments::CurriculumMetric& metric : config.curriculum->metrics)
            if (metric.column_sha256 == experiments::kDataMissing) missing.insert(metric.column);
    }
    if (!missing.empty())
        notes.push_back(
            fmt::format("Missing data: {}. The plan does not need it, but deft run does. The hashes of its rows change "
                        "once it is present.",
                        fmt::join(missing, ", ")));
}

// Trials whose epochs count records that are not here.
void add_unknown_steps_note(const Plan& plan, std::vector<std::string>& notes) {
    std::set<std::string> corpora;
    for (const PlanRow& row : plan.rows)
        if (!row.trial.projection.has_steps) corpora.insert(row.trial.config.data.corpus);
    if (!corpora.empty())
        notes.push_back(
            fmt::format("The number of steps of {} is unknown: their epochs count the records of {}, which are "
                        "missing. deft run needs them.",
                        counted(trials_without_steps(plan), "trial"), fmt::join(corpora, ", ")));
}

}  // namespace

std::vector<std::string> schedule_notes(const std::vector<Trial>& trials) {
    std::vector<std::string> uneven, unfinished;
    std::set<std::string> seen;
    for (const Trial& trial : trials) {
        const experiments::TrainConfig& train = trial.config.train;
        const std::string name = (trial.stage.empty() ? "" : trial.stage + " of ") + trial.recipe;
        if (train.budget_tokens == 0 || !seen.insert(name).second) continue;
        if (train.batch_size % train.micro_batch_size != 0)
            uneven.push_back(fmt::format("{} ({} of {})", name, train.batch_size % train.micro_batch_size,
                                         counted(train.micro_batch_size, "sample")));
        if (!trial.projection.has_steps) continue;
        for (const auto& [key, duration] : experiments::unfinished_growth(trial.config, trial.projection.steps))
            unfinished.push_back(fmt::format("{} of {} ({} of {})", key, name, reporting::si(trial.projection.steps),
                                             counted(duration, "step")));
    }
    std::vector<std::string> notes;
    if (!uneven.empty())
        notes.push_back(
            fmt::format("The last micro-batch of a step is smaller, because train.micro_batch_size does not divide "
                        "train.batch_size: {}.",
                        first_of(uneven, 5)));
    if (!unfinished.empty())
        notes.push_back(
            fmt::format("Training ends before the growth of {} reaches its maximum.", first_of(unfinished, 5)));
    return notes;
}

std::vector<std::string> plan_notes(const Spec& spec, const Plan& plan, std::int64_t checkpoints) {
    std::vector<std::string> notes = {total_note(plan)};
    notes.insert(notes.end(), spec.notes.begin(), spec.notes.end());
    if (plan.device) {
        notes.push_back(hours_note(plan, spec.fitted_on));
        if (plan.counts_exchange && plan.hours) notes.push_back(beside_note(plan));
        notes.push_back(memory_note(plan));
        notes.push_back(price_note(plan));
        add_published_notes(plan, notes);
    }
    if (any_of_bert(plan))
        notes.push_back(
            "Tokens of BERT samples include padding, as in published budgets; --draws counts the real tokens.");
    std::vector<Trial> trials;
    for (const PlanRow& row : plan.rows) trials.push_back(row.trial);
    for (std::string& note : schedule_notes(trials)) notes.push_back(std::move(note));
    add_imported_notes(plan, notes);
    add_missing_data_note(plan, notes);
    add_unknown_steps_note(plan, notes);
    if (spec.search) notes.push_back(search_note(spec));
    if (spec.has_stages())
        for (const Stage& stage : spec.stages) notes.push_back(stage_note(plan, stage));
    if (std::any_of(spec.stages.begin(), spec.stages.end(), [](const Stage& stage) { return !stage.from.empty(); }))
        notes.push_back(fmt::format("Disk: {} of checkpoints, kept for the stages that start from them.",
                                    reporting::binary_bytes(static_cast<double>(checkpoints))));
    return notes;
}

}  // namespace deft::sweeps
