#include "reporting/analysis/comparison/per_seed.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reporting/analysis/comparison/columns.h"
#include "reporting/analysis/comparison/cost_columns.h"
#include "reporting/analysis/cost/slot_shapes.h"
#include "reporting/analysis/results/rows.h"
#include "reporting/analysis/results/stale.h"
#include "reporting/analysis/results/sweep_text.h"
#include "reporting/analysis/scores/measured.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

using journal::TrainPoint;
using results_db::SamplingPoint;
using results_db::TrialCurve;

// Each trial as a row of its own, in the order of the comparison's rows.
std::vector<Row> one_a_trial(const std::vector<Row>& rows) {
    std::vector<Row> out;
    for (const Row& row : rows)
        for (const Trial* trial : row.trials) {
            Row& own = out.emplace_back(row);
            own.trials = {trial};
            own.ok = trial->state == "ok" ? own.trials : std::vector<const Trial*>{};
        }
    return out;
}

Cell count_cell(std::int64_t value) {
    return {fmt::format("{}", value), static_cast<double>(value)};
}

// A number where the trial has one seed, "1.3" of a chain.
Cell seed_cell(const Trial& trial) {
    if (trial.imported) return "-";  // no seed decides it
    return trial.seeds.find('.') == std::string::npos ? count_cell(trial.seed) : Cell(trial.seeds);
}

std::vector<Field> per_seed_fields(const Results& sweep, const std::vector<Row>& rows) {
    std::vector<Field> fields = key_fields(rows);
    fields.emplace_back(Column{"seed"}, [](const Row& one) { return seed_cell(*one.trials.front()); });
    fields.emplace_back(Column{"state", Align::left}, [](const Row& one) { return Cell(one.trials.front()->state); });
    for (const Resource& resource : resources()) {
        Column column;
        column.title = resource.title;
        column.csv_title = resource.csv_title;
        column.raw_unit = resource.raw_unit;
        fields.emplace_back(std::move(column), [&resource](const Row& one) {
            if (const auto& model = one.trials.front()->imported) return stated_cell(*model, resource);
            if (resource.from_seconds && slot_shapes(*one.trials.front()).size() > 1) return Cell(kMixedSlots);
            const std::optional<double> value = resource.value(*one.trials.front());
            return value ? Cell(resource.print(*value), *value) : Cell("-");
        });
    }
    fields.emplace_back(Column{"device\ntime", Align::right, false, false, "s"}, [](const Row& one) {
        const double value = one.trials.front()->device_seconds;
        return value > 0 ? Cell(short_seconds(value), value) : Cell("-");
    });
    fields.emplace_back(Column{"peak\nmemory", Align::right, false, false, "B"}, [](const Row& one) {
        const auto value = static_cast<double>(one.trials.front()->peak_rss_bytes);
        return value > 0 ? Cell(si(value, "B"), value) : Cell("-");
    });
    for (Field& field : cost_fields(rows)) fields.push_back(std::move(field));
    std::vector<Field> scores = score_fields(sweep);
    if (!scores.empty()) scores.front().column.begins_block = true;
    for (Field& field : scores) fields.push_back(std::move(field));
    return fields;
}

void add_steps(Table& table, const std::vector<Cell>& keys, const TrialCurve& curve) {
    std::map<std::int64_t, double> validation(curve.validation_losses.begin(), curve.validation_losses.end());
    std::map<std::int64_t, SamplingPoint> drawn;
    for (const SamplingPoint& point : curve.sampling) drawn[point.step] = point;
    for (const TrainPoint& point : curve.points) {
        std::vector<Cell>& row = table.rows.emplace_back(keys);
        for (const std::int64_t count : {point.step, point.input_tokens, point.unique_tokens, point.layer_tokens})
            row.push_back(count_cell(count));
        row.push_back(exact_cell(point.flops));
        row.push_back(exact_cell(static_cast<double>(point.wall_ms) / 1000));
        row.push_back(exact_cell(point.loss));
        const auto scored = validation.find(point.step);
        row.push_back(scored == validation.end() ? Cell("-") : exact_cell(scored->second));
        for (const double value : {point.lr, point.grad_norm, point.tokens_per_second})
            row.push_back(exact_cell(value));
        for (const std::int64_t count : {point.seqlen, point.kept_tokens}) row.push_back(count_cell(count));
        const auto sampled = drawn.find(point.step);
        for (const auto member : {&SamplingPoint::pool, &SamplingPoint::drawn, &SamplingPoint::repeated,
                                  &SamplingPoint::cut_tokens, &SamplingPoint::padded_tokens})
            row.push_back(sampled == drawn.end() ? Cell("-") : count_cell(sampled->second.*member));
    }
}

}  // namespace

Table per_seed_table(const Results& sweep) {
    const std::vector<Row> trials = one_a_trial(rows_of(sweep));
    const std::vector<Field> fields = per_seed_fields(sweep, trials);
    Table table;
    table.caption = "Sweep " + sweep_text(sweep) + ": every trial";
    table.key_columns = key_fields(trials).size() + 1;
    for (const Field& field : fields) table.columns.push_back(field.column);
    for (const Row& one : trials) {
        std::vector<Cell>& row = table.rows.emplace_back();
        for (const Field& field : fields) row.push_back(field.cell(one));
        if (one.ok.empty()) continue;
        const std::string flag = measured_rule(*one.ok.front()).failure;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const bool is_measured = i >= table.key_columns && row[i].value && !row[i].stated;
            if (i == 0 || is_measured) row[i].stale = with_reasons(one.ok.front()->stale, row[i].stale);
            if (i == 0 || (is_measured && fields[i].scores)) row[i].flag = flag;
        }
    }
    return table;
}

Table curves_table(const Results& sweep, const Curves& curves) {
    const std::vector<Row> trials = one_a_trial(rows_of(sweep));
    const std::vector<Field> keys = key_fields(trials);
    Table table;
    table.caption = "Sweep " + sweep_text(sweep) + ": every logged step";
    table.key_columns = keys.size() + 2;
    for (const Field& field : keys) table.columns.push_back(field.column);
    for (const char* title :
         {"seed", "step", "input tokens", "unique tokens", "consumed tokens", "FLOPs", "train time (s)",
          "training loss (nats/token)", "validation loss (nats/token)", "learning rate", "gradient norm",
          "tokens per s", "length (tokens)", "kept tokens", "samples admitted", "samples drawn", "samples drawn before",
          "tokens cut", "tokens padded"})
        table.columns.push_back({title});
    for (Column& column : table.columns)
        if (column.title == "consumed tokens") column.csv_title = "layer-avg tokens";
    for (const Row& one : trials) {
        const auto curve = curves.find(one.trials.front()->config_hash);
        if (curve == curves.end()) continue;
        std::vector<Cell> row;
        for (const Field& field : keys) row.push_back(field.cell(one));
        row.push_back(seed_cell(*one.trials.front()));
        add_steps(table, row, curve->second);
    }
    return table;
}

}  // namespace deft::reporting
