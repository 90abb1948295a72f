#pragma once
// The columns of the cost breakdown over all attempts at a row's trials: training, scoring, start-up, waiting and
// lost work, in device-seconds, and in USD where a price is known.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "reporting/analysis/comparison/columns.h"
#include "reporting/analysis/results/results.h"
#include "reporting/analysis/results/rows.h"
#include "reporting/ordered_json.h"

namespace deft::reporting {

// The rows of that table: a part that is zero in all of them has no column. Their first column begins a block.
// `rows` must outlive them.
std::vector<Field> cost_fields(const std::vector<Row>& rows);

// The meaning of each of these columns, and which of them are left out or incomplete. Empty without columns.
std::vector<std::string> cost_notes(const std::vector<Row>& rows);

// One column of them as a question to a trial.
struct CostColumn {
    std::string title;
    const char* unit;  // "device-s" or "USD"
    std::optional<double> (*value)(const Trial&);
};
// All there may be.
const std::vector<CostColumn>& cost_columns();

// Texts of the parts and of their sum, rounded so that the printed parts add up to the printed sum.
struct PartTexts {
    std::array<std::string, 5> parts;  // in the order of CostParts
    std::string whole;
};
PartTexts device_second_texts(const results_db::CostParts& parts);
PartTexts usd_texts(const results_db::CostParts& parts);

// {"training": 10.0, ..., "whole": 15.6}
OrderedJson parts_json(const results_db::CostParts& parts);

// Device-seconds of an attempt that has ended.
results_db::CostParts attempt_parts(const results_db::AttemptRow& attempt);

// "training 10.0, scoring 2.0, start-up 0.5, waiting 0, lost 3.1: 15.6 device-s", without what is nothing.
std::string parts_text(const results_db::CostParts& device_seconds);

}  // namespace deft::reporting
