#include "sweeps/cli/draws_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace deft::cli {

namespace {

using reporting::Align;
using reporting::Cell;

bool any_bert(const std::vector<sweeps::PlanRow>& rows) {
    return std::any_of(rows.begin(), rows.end(),
                       [](const sweeps::PlanRow& row) { return row.point.config.data.samples == "bert"; });
}

// A share of the tokens of all rows.
std::string percent(std::int64_t part, std::int64_t whole) {
    return whole > 0 ? fmt::format("{:.1f}%", 100 * static_cast<double>(part) / static_cast<double>(whole)) : "-";
}

}  // namespace

reporting::Table draws_table(const std::vector<sweeps::PlanRow>& rows,
                             const std::vector<experiments::DrawTotals>& draws) {
    const bool bert = any_bert(rows);
    reporting::Table table;
    table.caption = "What the sampler draws, without training";
    table.columns = {{"trial", Align::left}, {"steps"},       {"samples\ndrawn"},  {"of these\nrepeated"},
                     {"real\ntokens"},       {"cut\ntokens"}, {"padding\ntokens"}, {"padding"}};
    if (bert) table.columns.push_back({"masked\ntokens"});
    table.columns.insert(table.columns.end(), {{"pool at\nstart"}, {"pool at\nend"}});
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const experiments::DrawTotals& d = draws[i];
        std::vector<Cell> cells = {rows[i].point.name(),
                                   std::to_string(d.steps),
                                   std::to_string(d.sampling.drawn),
                                   std::to_string(d.sampling.repeated),
                                   std::to_string(d.tokens),
                                   std::to_string(d.cut_tokens),
                                   std::to_string(d.padding_tokens),
                                   percent(d.padding_tokens, d.tokens + d.padding_tokens)};
        if (bert) cells.push_back(std::to_string(d.masked_tokens));
        cells.push_back(std::to_string(d.first_pool));
        cells.push_back(std::to_string(d.sampling.pool));
        table.rows.push_back(std::move(cells));
    }
    table.notes.push_back("Pool: samples admitted at the first step, and at the last.");
    if (bert)
        table.notes.push_back(
            "BERT samples: real tokens have the special ones among them; a step's rows are as long as"
            " its longest sample, rounded up to a multiple of 8. The budget counts every row at the"
            " length of its step.");
    return table;
}

reporting::Table epochs_table(const std::vector<sweeps::PlanRow>& rows,
                              const std::vector<experiments::DrawTotals>& draws) {
    reporting::Table table;
    table.caption = "Draws a sample, by tenths of the samples in the order of their admission";
    table.columns = {{"trial", Align::left}};
    for (int tenth = 1; tenth <= 10; ++tenth) table.columns.push_back({fmt::format("{}.", tenth)});
    for (std::size_t i = 0; i < rows.size(); ++i) {
        std::vector<Cell> cells = {rows[i].point.name()};
        for (const double epochs : draws[i].sampling.epochs) cells.push_back(fmt::format("{:.2f}", epochs));
        table.rows.push_back(std::move(cells));
    }
    table.notes.push_back(
        "The first tenth is the easiest; without a curriculum all samples are admitted at once, and"
        " the tenths are those of their ids.");
    return table;
}

}  // namespace deft::cli
