#include "sweeps/driver/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "reporting/numbers.h"
#include "sweeps/driver/machine_limits.h"
#include "sweeps/spec/published_tables.h"

namespace deft::sweeps {

namespace {

std::optional<PlanPrice> plan_price(const Spec& spec) {
    if (const auto& price = spec.price)
        return PlanPrice{price->usd_per_hour, price->sku, reporting::date(price->date_ms), price->source};
    const experiments::Device& device = spec.device->device;
    if (const auto& price = device.price)
        return PlanPrice{price->usd_per_hour, device.name, price->date, price->source};
    return {};
}

const reporting::PublishedColumn* hours_column(const Plan& plan) {
    if (!plan.published) return nullptr;
    for (const reporting::PublishedColumn& column : plan.published->columns)
        if (column.measures && reporting::to_text(*column.measures) == "train hours") return &column;
    return nullptr;
}

std::optional<reporting::PublishedCell> published_hours(const Plan& plan, const Point& point) {
    const reporting::PublishedColumn* column = hours_column(plan);
    if (column == nullptr) return {};
    // The hours are of pretraining.
    if (point.parent && experiments::sample_kind(point.config.data) == experiments::SampleKind::labelled) return {};
    const auto* row = plan.published->find(point.case_name, point.config.train.budget_fraction);
    const reporting::PublishedCell* cell = row == nullptr ? nullptr : row->find(column->key);
    if (cell == nullptr) return {};
    return *cell;
}

std::vector<PlanRow> rows_of(std::vector<Point> points) {
    std::vector<PlanRow> rows;
    std::set<std::string> trained;
    for (Point& point : points) {
        const std::int64_t seed = point.seed;
        const bool is_new = trained.insert(point.config_hash).second;
        // Places that differ in what is asked alone share a training, and are rows of their own.
        if (rows.empty() || rows.back().point.variant_hash != point.variant_hash ||
            rows.back().point.axes != point.axes || rows.back().point.case_name != point.case_name ||
            rows.back().point.stage != point.stage)
            rows.emplace_back().point = std::move(point);
        rows.back().seeds.push_back(seed);
        rows.back().trained += is_new;
    }
    return rows;
}

void add_cost(Plan& plan, PlanRow& row) {
    if (experiments::is_imported(row.point.config)) return;
    row.hours = experiments::training_hours(*plan.device, row.point.projection.flops);
    if (!row.hours) return;
    const auto seeds = static_cast<double>(row.trained);
    plan.hours = plan.hours.value_or(0) + seeds * *row.hours;
    if (!plan.price) return;
    row.dollars = static_cast<double>(plan.device->devices) * *row.hours * plan.price->usd_per_hour;
    plan.dollars = plan.dollars.value_or(0) + seeds * *row.dollars;
}

// Whether the row is of the model and the tokens whose hours were published, as far as these are known: within a tenth.
bool is_as_published(const PlanRow& row, const reporting::PublishedTable& table) {
    if (!table.regime) return true;
    const auto is_near = [](double planned, double published) {
        return published <= 0 || std::abs(planned / published - 1) <= 0.1;
    };
    const experiments::Projection& projection = row.point.projection;
    return is_near(static_cast<double>(projection.active_parameters), table.regime->parameters) &&
           is_near(static_cast<double>(projection.layer_tokens),
                   table.regime->tokens * row.point.config.train.budget_fraction);
}

// The one free parameter: the share of the peak with which the row's FLOPs take its published hours. Nothing where the row is
// not planned or is another than the published one, where nobody published its hours, or where the share would be above 1.
void fit_utilisation(Plan& plan, const std::string& case_name) {
    PlanRow* fitted = nullptr;
    for (PlanRow& row : plan.rows)
        if (row.point.case_name == case_name && row.published && row.published->number.value > 0 &&
            (fitted == nullptr ||
             row.point.config.train.budget_fraction > fitted->point.config.train.budget_fraction))
            fitted = &row;
    if (fitted == nullptr || plan.device->peak_flops() == 0) return;
    const double device_seconds = fitted->published->number.value * 3600 * static_cast<double>(plan.device->devices);
    const double share = fitted->point.projection.flops / (device_seconds * plan.device->peak_flops());
    if (share > 1 || !is_as_published(*fitted, *plan.published)) return;
    plan.device->utilisation = share;
    fitted->is_fitted_on = true;
}

// ---- notes ---------------------------------------------------------------------------------------------------------

std::string devices_text(const experiments::DeviceUse& use) {
    return fmt::format("{} {}", use.devices, use.device.name);
}

bool any_of_bert(const Plan& plan) {
    return std::any_of(plan.rows.begin(), plan.rows.end(), [](const PlanRow& row) {
        return experiments::sample_kind(row.point.config.data) == experiments::SampleKind::bert;
    });
}

std::string total_note(const Plan& plan) {
    std::string note = fmt::format("{} trials", plan.trials);
    if (plan.places > plan.trials)
        note += fmt::format(" at {} places of the sweep, for some share a training", plan.places);
    if (plan.flops > 0) note += fmt::format(", {} in all", reporting::si(plan.flops, "FLOP"));
    if (plan.hours) note += fmt::format(": {:.1f} hours of {}", *plan.hours, devices_text(*plan.device));
    if (plan.dollars) note += ", " + reporting::dollars(*plan.dollars);
    return note + ".";
}

// What one stage takes of the whole.
std::string stage_note(const Plan& plan, const Stage& stage) {
    std::size_t trials = 0;
    double flops = 0, hours = 0, dollars = 0;
    for (const PlanRow& row : plan.rows) {
        if (row.point.stage != stage.name) continue;
        const auto trained = static_cast<double>(row.trained);
        trials += row.trained;
        flops += trained * row.point.projection.flops;
        hours += trained * row.hours.value_or(0);
        dollars += trained * row.dollars.value_or(0);
    }
    std::string note = fmt::format("Stage {}{}: {}, {}", stage.name, stage.from.empty() ? "" : ", from " + stage.from,
                                   counted(trials, "trial"), reporting::si(flops, "FLOP"));
    if (plan.hours) note += fmt::format(", {:.1f} hours", hours);
    if (plan.dollars) note += ", " + reporting::dollars(dollars);
    return note + ".";
}

const PlanRow* fitted_row(const Plan& plan) {
    const auto fitted = std::find_if(plan.rows.begin(), plan.rows.end(), [](const PlanRow& row) { return row.is_fitted_on; });
    return fitted == plan.rows.end() ? nullptr : &*fitted;
}

// How far the rows that were not fitted are from what was published.
std::string prediction_note(const Plan& plan) {
    std::vector<double> errors;
    for (const PlanRow& row : plan.rows)
        if (!row.is_fitted_on)
            if (const auto error = row.error_percent()) errors.push_back(*error);
    if (errors.empty()) return {};
    const auto [least, most] = std::minmax_element(errors.begin(), errors.end());
    return fmt::format(" Predicted: {} with published hours, {:+.1f}% to {:+.1f}% off.", counted(errors.size(), "row"), *least,
                       *most);
}

std::string hours_note(const Plan& plan, const std::string& fitted_on) {
    const experiments::DeviceUse& use = *plan.device;
    if (use.peak_flops() == 0)
        return fmt::format("No hours: {} has no published peak. Its source: {}.", use.device.name, use.device.source);
    if (const PlanRow* fitted = fitted_row(plan))
        return fmt::format("Hours: FLOPs / ({} x {} in {} x {:.4f}), the last being fitted on the {} published hours of {} at {:g}%"
                           " and the same for all rows.{} Peak: {}.",
                           devices_text(use), reporting::si(use.peak_flops(), "FLOP/s"), use.dtype, use.utilisation,
                           fitted->published->number.text, fitted->point.case_name,
                           100 * fitted->point.config.train.budget_fraction, prediction_note(plan), use.device.source);
    if (use.utilisation == 0)
        return fmt::format("No hours: they are fitted on the published ones of {}, which is not planned here as it was published.",
                           fitted_on);
    return fmt::format("Hours: FLOPs / ({} x {} in {} x {:g}), the last being the one share of the peak that the sweep"
                       " states for all rows{}. Peak: {}.",
                       devices_text(use), reporting::si(use.peak_flops(), "FLOP/s"), use.dtype, use.utilisation,
                       fitted_on.empty() ? "" : ", for the row to fit it on is not planned here as it was published",
                       use.device.source);
}

std::string memory_note(const Plan& plan) {
    std::set<std::int64_t> samples;
    std::set<std::string> dtypes;
    std::int64_t most = 0;
    for (const PlanRow& row : plan.rows) {
        samples.insert(row.point.config.train.micro_batch_size);
        dtypes.insert(row.point.config.train.dtype);
        most = std::max(most, row.point.projection.memory_bytes);
    }
    std::string note = fmt::format("Memory: one device with micro_batch_size = {} samples and dtype = {}, every buffer"
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
    return fmt::format("Cost: devices x hours x ${:g} an hour of {} ({}, {}).", price.usd_per_hour, price.sku,
                       price.date, price.source);
}

std::string published_note(const reporting::PublishedTable& table) {
    return fmt::format("Published hours: {}. {} ({}), at {}. Error: planned against published.", table.label,
                       table.paper, table.source, table.scale);
}

// The source of the published hours, and which of them nobody could verify.
void add_published_notes(Plan& plan) {
    const reporting::PublishedColumn* hours = hours_column(plan);
    if (hours == nullptr) return;
    plan.notes.push_back(published_note(*plan.published));
    const auto is_shown = [&](const reporting::PublishedRow& row, const reporting::PublishedColumn& column) {
        return &column == hours && std::any_of(plan.rows.begin(), plan.rows.end(), [&](const PlanRow& planned) {
                   const experiments::TrialConfig& config = planned.point.config;
                   return plan.published->find(planned.point.case_name, config.train.budget_fraction) == &row;
               });
    };
    for (std::string& note : reporting::doubt_notes(*plan.published, is_shown)) plan.notes.push_back(std::move(note));
}

// Which rows are models taken as they are, and what their users state of them.
void add_imported_notes(Plan& plan) {
    for (const PlanRow& row : plan.rows) {
        if (!experiments::is_imported(row.point.config)) continue;
        const experiments::StartConfig& start = *row.point.config.start;
        std::string note = fmt::format("Imported, not trained: {}: {}, from {} (sha256 {}).", row.point.case_name,
                                       start.format, start.from, short_hash(start.sha256));
        std::vector<std::string> stated;
        if (start.stated.tokens > 0) stated.push_back(reporting::si(start.stated.tokens) + " tokens");
        if (start.stated.flops > 0) stated.push_back(reporting::si(start.stated.flops, "FLOP"));
        if (start.stated.hours > 0) stated.push_back(fmt::format("{:g} hours", start.stated.hours));
        if (start.stated.usd > 0) stated.push_back(reporting::dollars(start.stated.usd));
        if (!stated.empty())
            note += fmt::format(" Stated of its training, not counted: {}{}.", fmt::join(stated, ", "),
                                start.stated.source.empty() ? "" : " (" + start.stated.source + ")");
        plan.notes.push_back(std::move(note));
    }
}

void add_missing_data_note(Plan& plan) {
    std::set<std::string> missing;
    for (const PlanRow& row : plan.rows) {
        const experiments::TrialConfig& config = row.point.config;
        if (config.data.sha256 == experiments::kDataMissing) missing.insert(config.data.corpus);
        if (config.start && config.start->sha256 == experiments::kDataMissing)
            missing.insert(experiments::start_path(config).string());
        if (!config.curriculum) continue;
        for (const experiments::CurriculumMetric& metric : config.curriculum->metrics)
            if (metric.column_sha256 == experiments::kDataMissing) missing.insert(metric.column);
    }
    if (!missing.empty())
        plan.notes.push_back(fmt::format("Data that is not here: {}. These counts do not need it, deft run does; the"
                                         " variants' hashes change once it is here.",
                                         fmt::join(missing, ", ")));
}

// What several rows share is trained once.
std::string search_note(const Spec& spec) {
    std::map<std::string, double> flops;
    for (const Point& point : expand_search(spec, 0, Data::may_be_missing))
        flops.emplace(point.config_hash, point.projection.flops);
    double sum = 0;
    for (const auto& [hash, of_trial] : flops) sum += of_trial;
    return fmt::format("Search of the learning rate, before the table: {} at {:g}, {}, beside those above. The table's "
                       "trials have the best rate of their row; here they are counted at the file's.",
                       counted(flops.size(), "trial"), fmt::join(spec.search->learning_rates, ", "),
                       reporting::si(sum, "FLOP"));
}

void add_notes(Plan& plan, const std::string& fitted_on) {
    plan.notes.push_back(total_note(plan));
    if (plan.device) {
        plan.notes.push_back(hours_note(plan, fitted_on));
        plan.notes.push_back(memory_note(plan));
        plan.notes.push_back(price_note(plan));
        add_published_notes(plan);
    }
    if (any_of_bert(plan))
        plan.notes.push_back(
            "Tokens of BERT samples are counted as published budgets count them, every row at the length of its step;"
            " --draws counts the real ones.");
    add_imported_notes(plan);
    add_missing_data_note(plan);
}

// ---- JSON ----------------------------------------------------------------------------------------------------------

Json number_or_null(const std::optional<double>& value) {
    return value ? Json(*value) : Json();
}

Json device_json(const experiments::DeviceUse& use) {
    Json json = {{"name", use.device.name},   {"title", use.device.title}, {"vendor", use.device.vendor},
                 {"source", use.device.source}, {"devices", use.devices},  {"dtype", nullptr},
                 {"peak_flops", nullptr},     {"utilisation", nullptr},    {"memory_bytes", nullptr}};
    if (!use.dtype.empty()) json["dtype"] = use.dtype;
    if (use.peak_flops() > 0) json["peak_flops"] = use.peak_flops();
    if (use.utilisation > 0) json["utilisation"] = use.utilisation;
    if (use.device.memory_bytes > 0) json["memory_bytes"] = use.device.memory_bytes;
    return json;
}

// Null where the row is trained.
Json imported_json(const experiments::TrialConfig& config) {
    if (!experiments::is_imported(config)) return nullptr;
    return {{"from", config.start->from}, {"format", config.start->format}, {"sha256", config.start->sha256}};
}

Json row_json(const PlanRow& row) {
    const experiments::Projection& projection = row.point.projection;
    return {{"stage", row.point.stage},
            {"case", row.point.case_name},
            {"axes", row.point.axes},
            {"budget_fraction", row.point.config.train.budget_fraction},
            {"seeds", row.seeds},
            {"imported", imported_json(row.point.config)},
            {"variant_hash", row.point.variant_hash},
            {"data_is_here", row.point.config.data.sha256 != experiments::kDataMissing},
            {"steps", projection.steps},
            {"parameters", projection.parameters},
            {"active_parameters", projection.active_parameters},
            {"input_tokens", projection.input_tokens},
            {"layer_tokens", projection.layer_tokens},
            {"flops", projection.flops},
            {"memory_bytes", projection.memory_bytes},
            {"hours", number_or_null(row.hours)},
            {"published_hours", row.published ? Json(row.published->number.text) : Json()},
            {"published_hours_doubt", row.published ? row.published->doubt : ""},
            {"hours_error_percent", number_or_null(row.error_percent())},
            {"hours_fitted_on_this", row.is_fitted_on},
            {"usd", number_or_null(row.dollars)}};
}

}  // namespace

std::optional<double> PlanRow::error_percent() const {
    if (!hours || !published || !(published->number.value > 0)) return {};
    return 100 * (*hours / published->number.value - 1);
}

Plan make_plan(const Spec& spec, std::vector<Point> points) {
    Plan plan;
    plan.sweep = spec.name;
    plan.scale = spec.scale.empty() ? "as written" : spec.scale;
    plan.device = spec.device;
    plan.places = points.size();
    const auto checkpoints = reporting::binary_bytes(static_cast<double>(checkpoint_bytes(points)));
    plan.rows = rows_of(std::move(points));
    for (const PlanRow& row : plan.rows) {
        plan.trials += row.trained;
        plan.flops += static_cast<double>(row.trained) * row.point.projection.flops;
    }
    if (plan.device) {
        plan.price = plan_price(spec);
        plan.published = published_table(spec.paper);
        for (PlanRow& row : plan.rows)
            if (!experiments::is_imported(row.point.config)) row.published = published_hours(plan, row.point);
        if (!spec.fitted_on.empty()) fit_utilisation(plan, spec.fitted_on);
        for (PlanRow& row : plan.rows) add_cost(plan, row);
    }
    add_notes(plan, spec.fitted_on);
    if (spec.search) plan.notes.push_back(search_note(spec));
    if (spec.has_stages()) {
        for (const Stage& stage : spec.stages) plan.notes.push_back(stage_note(plan, stage));
        if (std::any_of(spec.stages.begin(), spec.stages.end(), [](const Stage& stage) { return !stage.from.empty(); }))
            plan.notes.push_back(
                fmt::format("Disk: {} of checkpoints, which stay for what starts from them.", checkpoints));
    }
    return plan;
}

Json to_json(const Plan& plan) {
    Json json = {{"schema", "deft-plan/1"}, {"sweep", plan.sweep}, {"scale", plan.scale}, {"device", nullptr},
                 {"price", nullptr},        {"notes", plan.notes}, {"rows", Json::array()}};
    if (plan.device) json["device"] = device_json(*plan.device);
    if (const auto& price = plan.price)
        json["price"] = {{"usd_per_hour", price->usd_per_hour}, {"sku", price->sku}, {"date", price->date},
                         {"source", price->source}};
    for (const PlanRow& row : plan.rows) json["rows"].push_back(row_json(row));
    json["total"] = {{"trials", plan.trials},
                     {"places", plan.places},
                     {"flops", plan.flops},
                     {"hours", number_or_null(plan.hours)},
                     {"usd", number_or_null(plan.dollars)}};
    return json;
}

}  // namespace deft::sweeps
