#include "sweeps/cli/difficulty_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engine/data_efficiency/sampling/value_column.h"
#include "reporting/numbers.h"

namespace deft::cli {

reporting::Table difficulty_table() {
    using reporting::Align;
    reporting::Table table;
    table.caption = "Difficulty of the training samples";
    table.columns = {{"corpus", Align::left}, {"metric", Align::left}, {"length"}, {"samples"}, {"min"}};
    for (int decile = 1; decile < 10; ++decile) table.columns.push_back({fmt::format("{} %", 10 * decile)});
    table.columns.insert(table.columns.end(), {{"max"}, {"distinct"}, {"time"}, {"samples/s"}});
    table.key_columns = 3;
    table.notes.push_back(
        "n %: no sample of the easiest n % is more difficult. \"found\": analysed before, read again. Metrics of one "
        "corpus are analysed together, and share their time.");
    return table;
}

void add_row(reporting::Table& table, const DifficultyRow& row) {
    const engine::DifficultyIndex& index = row.index;
    const std::int64_t samples = index.samples();
    std::int64_t distinct = 1;
    for (std::int64_t rank = 1; rank < samples; ++rank)
        distinct += index.sorted_value(rank) != index.sorted_value(rank - 1);
    std::vector<reporting::Cell> cells = {row.corpus, row.metric, std::to_string(row.seqlen), std::to_string(samples)};
    // The value that a decile of the samples does not exceed: a cut of the order at an exact count.
    for (int decile = 0; decile <= 10; ++decile) {
        const std::int64_t value = index.sorted_value(std::max<std::int64_t>(0, (samples * decile + 9) / 10 - 1));
        cells.push_back(row.floats ? fmt::format("{:.5g}", engine::of_ordered_key(value)) : std::to_string(value));
    }
    cells.push_back(std::to_string(distinct));
    cells.push_back(row.seconds ? reporting::short_seconds(*row.seconds) : "found");
    cells.push_back(row.seconds ? reporting::si(static_cast<double>(samples) / *row.seconds) : "-");
    table.rows.push_back(std::move(cells));
}

}  // namespace deft::cli
