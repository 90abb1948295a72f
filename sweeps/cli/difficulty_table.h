#pragma once
// The table of deft analyze: how difficult the samples of corpora are, by deciles.

#include <optional>
#include <string>

#include "engine/data_efficiency/sampling/difficulty_index.h"
#include "reporting/table.h"

namespace deft::cli {

struct DifficultyRow {
    std::string corpus, metric;
    std::int64_t seqlen = 0;
    engine::DifficultyIndex index;
    bool floats = false;            // values are keys of floats, see value_column.h
    std::optional<double> seconds;  // of an analysis; none: found
};

reporting::Table difficulty_table();
void add_row(reporting::Table& table, const DifficultyRow& row);

}  // namespace deft::cli
