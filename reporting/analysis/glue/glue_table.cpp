#include "reporting/analysis/glue/glue_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "reporting/analysis/glue/glue_scores.h"
#include "reporting/analysis/results/rows.h"
#include "reporting/analysis/results/sweep_text.h"
#include "reporting/analysis/scores/labelled_notes.h"
#include "reporting/analysis/scores/measured.h"
#include "results_db/trial_name.h"

namespace deft::reporting {

namespace {

constexpr std::size_t kAverage = 3;  // follows the model, the rate and whether that counts

Cell percent_cell(double value, const std::optional<double>& spread, const std::string& stale) {
    Cell cell(fmt::format("{:.2f}", value) + (spread ? fmt::format(" ± {:.2f}", *spread) : ""), value);
    cell.spread = spread;
    cell.stale = stale;
    return cell;
}

std::vector<Cell> row_of_rate(const GlueOfModel& model, std::size_t i, const std::vector<std::string>& columns) {
    const GlueAtRate& at = model.result.rates[i];
    const bool counts = model.result.chosen == i;
    const std::string failure = measured_rule(*model.model).failure;  // of the pretraining
    const std::string stale = counts || !model.result.chosen ? model.stale : "";
    std::vector<Cell> row = {Cell(results_db::trial_name(*model.model)), Cell(fmt::format("{:g}", at.rate), at.rate),
                             Cell(counts ? "yes" : "-"), Cell("-")};
    row.resize(row.size() + columns.size(), Cell("-"));
    if (at.average) row[kAverage] = percent_cell(*at.average, at.spread, stale);
    for (const GlueColumn& column : at.columns) {
        const auto place = std::find(columns.begin(), columns.end(), column.name) - columns.begin();
        row[kAverage + 1 + static_cast<std::size_t>(place)] = percent_cell(column.value, column.spread, stale);
    }
    for (std::size_t place = 0; place < row.size(); ++place)
        if (place == 0 || (place >= kAverage && row[place].value)) row[place].flag = failure;
    return row;
}

}  // namespace

std::optional<Table> glue_table(const Results& sweep) {
    const GlueScores scores = glue_scores(sweep);
    if (scores.models.empty()) return std::nullopt;
    std::vector<std::string> columns;
    for (const GlueTask& task : scores.tasks) columns.insert(columns.end(), task.columns.begin(), task.columns.end());
    Table table;
    table.caption = "Sweep " + sweep_text(sweep) + ": GLUE, % ↑, of each pretrained model and fine-tuning rate";
    table.key_columns = 2;
    table.columns = {{"pretrained", Align::left}, {"rate"}, {"counts"}, {"average"}};
    for (const std::string& name : columns) table.columns.push_back({name});
    for (Column& column : table.columns) column.id = column.title;
    for (const GlueOfModel& model : scores.models)
        for (std::size_t i = 0; i < model.result.rates.size(); ++i)
            table.rows.push_back(row_of_rate(model, i, columns));
    table.notes = glue_notes(scores);
    for (const GlueOfModel& model : scores.models)
        if (!measured_rule(*model.model).failure.empty()) {
            table.notes.emplace_back("† The pretraining does not count as measured; its stage's table says why.");
            break;
        }
    for (std::string& note : labelled_notes(rows_of(sweep))) table.notes.push_back(std::move(note));
    return table;
}

}  // namespace deft::reporting
