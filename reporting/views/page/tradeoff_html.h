#pragma once
// Quality against cost as a section of a sweep's page, and as a file of its own.

#include <optional>
#include <string>

#include "reporting/analysis/comparison/comparison.h"
#include "reporting/analysis/results/results.h"
#include "reporting/table.h"

namespace deft::reporting {

struct Tradeoff;

// One row a point: seeds, quality, its share of the baseline's, and what it cost.
Table tradeoff_table(const Tradeoff& tradeoff);

// The sentences, the picture, what they rest on, and the points as a table. Empty where the sweep has no such picture.
std::string tradeoff_html(const Results& sweep, const SweepAbout& about, const std::string& id,
                          const std::string& suffix);

// The picture that shows a sweep's result, as a file of its own: of its first stage that has one, quality against cost,
// or which dense model its models with experts come to. Nothing where it has neither.
std::optional<std::string> result_picture(const Results& sweep, const SweepAbout& about);

}  // namespace deft::reporting
