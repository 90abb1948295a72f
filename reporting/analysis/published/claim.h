#pragma once
// A paper's claims about its table, as data: which rows, by which quantity, and within what margin, named before
// anything runs.

#include <optional>
#include <string>

#include "base/config.h"
#include "reporting/analysis/scores/quantity.h"
#include "reporting/analysis/statistics/contrast.h"

namespace deft::reporting {

struct PublishedTable;

enum class ClaimKind {
    no_worse,          // not worse than the other row by the margin
    better,            // better than the other row
    best_in_column,    // not worse than any other row by the margin
    equal_within,      // no further from the other row than the margin
    at_most_fraction,  // takes at most so much of what the other row takes of a resource
    times_as_fast,     // at least this many times as fast as the other row
    closes_gap,        // makes good at least so much of what the other row loses with less data
};

struct ClaimedRow {
    std::string recipe;
    double budget_fraction = 1;
};

// The quantity and margin that judge a claim at one scale.
struct ClaimScale {
    std::string not_judged;  // why nothing judges it there; empty: the rest holds
    std::string column;      // of the table, whose quantity it is; empty: one of its own
    Quantity quantity;
    std::string unit;    // of values and margin; "%" of a score: times 100
    std::string better;  // lower | higher
    double margin = 0;   // of the kinds that have one
};

struct Claim {
    std::string id;
    std::string statement, source;  // what is said, and where
    ClaimKind kind = ClaimKind::no_worse;
    ClaimedRow of;
    std::optional<ClaimedRow> against;               // not of best_in_column
    std::optional<ClaimedRow> from;                  // of closes_gap: the other row with less data
    double amount = 0;                               // of the kinds that have one: fraction, times or share
    ContrastMethod method = ContrastMethod::pooled;  // or paired: seed by seed
    ClaimScale proxy, paper;
};

// "no_worse".
std::string to_text(ClaimKind kind);

// One [[claim]] of a table whose columns, rows and earlier claims have been read.
// Errors: config, with the place: what the table does not have (with the nearest name), a margin or an amount that is
// none, a row that prints no number of the claimed column.
Claim read_claim(const ConfigNode& node, const PublishedTable& table);

}  // namespace deft::reporting
