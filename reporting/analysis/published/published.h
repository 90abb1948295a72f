#pragma once
// Published tables as data: reporting/paper/NAME.toml holds what a paper printed, digit for digit, and what it claims.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reporting/analysis/published/claim.h"
#include "reporting/analysis/published/printed.h"
#include "reporting/analysis/results/regime.h"
#include "reporting/analysis/scores/quantity.h"

namespace deft::reporting {

struct PublishedColumn {
    std::string key;
    std::string title;   // "average 0-shot"
    std::string detail;  // "19 tasks"
    std::string unit;
    std::string better;                // lower | higher
    std::optional<Quantity> measures;  // what of a sweep answers the same question
    std::string not_measured;          // why nothing does
    std::string aggregate;             // how a number came from several, "median of 5 fine-tuning seeds"
    std::string spread_kind;           // of its cells, "standard deviation"; empty: none prints a spread
    std::int64_t seeds = 0;            // per number; 0: not printed
};

struct PublishedCell {
    PrintedNumber number;
    std::optional<PrintedNumber> spread;
    std::int64_t seeds = 0;  // as in the column, where the cell does not say otherwise
    std::string doubt;       // why it is not verified; empty: its source was read
};

struct PublishedRow {
    std::string recipe;
    double budget_fraction = 1;
    std::string data;                                          // "150B tokens"
    std::vector<std::pair<std::string, PublishedCell>> cells;  // by column key
    std::vector<std::pair<std::string, std::string>> missing;  // by column key: why a cell is absent

    const PublishedCell* find(const std::string& key) const;
    std::string name() const;  // "CL at 50%"
};

// The hardware of a table's times.
struct PublishedHardware {
    std::int64_t devices = 0;
    std::vector<std::string>
        any_of;  // names in experiments/hardware.toml, several where the paper does not distinguish them
};

struct PublishedTable {
    std::string name;  // of its file
    std::string paper, source, label;
    std::string scale;             // "GPT-3 1.3B, 300B tokens"
    std::string stage;             // of a sweep with stages, the one that it belongs to; empty: all that pretrain
    std::optional<Regime> regime;  // of its baseline at the full budget, of tables of pretraining
    std::optional<PublishedHardware> hardware;
    std::vector<PublishedColumn> columns;
    std::vector<PublishedRow> rows;
    std::vector<Claim> claims;

    const PublishedColumn* column(const std::string& key) const;
    const PublishedRow* find(const std::string& recipe, double budget_fraction) const;
    // That recipe's row at the largest budget.
    const PublishedRow* full_budget(const std::string& recipe) const;
};

// Errors: io; config (strict, with the place).
PublishedTable read_published_table(const std::filesystem::path& file);

// The names of the tables in that folder, sorted.
std::vector<std::string> published_table_names(const std::filesystem::path& folder);

// "§ Not verified: train time of CL at 50%: REASON." Of the cells that `is_shown`, one note a reason.
std::vector<std::string> doubt_notes(const PublishedTable& table,
                                     const std::function<bool(const PublishedRow&, const PublishedColumn&)>& is_shown);

}  // namespace deft::reporting
