#pragma once
// Published tables as data: reporting/paper/NAME.toml holds what a paper printed, digit for digit.

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace deft::reporting {

// A number known only as it was printed: the true value lies in [value - half_unit, value + half_unit).
struct PrintedNumber {
    std::string text;
    double value = 0;
    double half_unit = 0;  // half a unit of the last printed place
};

// "43.6" means [43.55, 43.65). Errors: config, for what is no plain decimal number.
PrintedNumber parse_printed(const std::string& text, const Place& place);

// What of a sweep answers the same question as a published column.
enum class Measures { train_time, zero_shot_average, ten_shot_average };

struct PublishedColumn {
    std::string key;
    std::string title;   // "average 0-shot"
    std::string detail;  // "of 19 tasks"
    std::string unit;
    std::string better;  // lower | higher
    Measures measures = Measures::train_time;
};

struct PublishedRow {
    std::string case_name;
    double budget_fraction = 1;
    std::string data;  // "150B tokens"
    std::vector<std::pair<std::string, PrintedNumber>> values;  // by column key

    const PrintedNumber* find(const std::string& key) const;
};

struct PublishedTable {
    std::string name;  // of its file
    std::string paper, source, label;
    std::string scale;  // "GPT-3 1.3B, 300B tokens"
    std::vector<PublishedColumn> columns;
    std::vector<PublishedRow> rows;

    const PublishedRow* find(const std::string& case_name, double budget_fraction) const;
    // Of that case, the one at the largest budget.
    const PublishedRow* full_budget(const std::string& case_name) const;
};

// Errors: io; config (strict, with the place).
PublishedTable read_published_table(const std::filesystem::path& file);

// The names of the tables in that folder, sorted.
std::vector<std::string> published_table_names(const std::filesystem::path& folder);

}  // namespace deft::reporting
