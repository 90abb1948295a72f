#pragma once
// A paper's columns, each right beside the measured one that answers the same question.

#include <optional>
#include <string>
#include <vector>

#include "reporting/analysis/comparison/columns.h"
#include "reporting/analysis/published/published.h"
#include "reporting/analysis/results/results.h"

namespace deft::reporting {

// The context of the published columns; all must outlive the fields.
struct PublishedContext {
    const PublishedTable& table;
    const Results& sweep;
    const std::vector<Row>& rows;
    std::string base_recipe;
    std::string scale;
};

// A trial's score in the column's unit, a share that is printed in percent times 100; nothing where it has none.
std::optional<double> score_in_unit(const Trial& trial, const PublishedColumn& column);

// Beside that measured resource: what was printed, and its ratio to the published baseline.
std::vector<Field> published_resource_fields(const PublishedContext& context, const Resource& resource);

// For each published score that this sweep measured: measured, published, and both against the baseline at 100%.
std::vector<Field> published_score_fields(const PublishedContext& context);

// Source, what does not compare, what is not verified, and what was published but not measured here.
std::vector<std::string> published_notes(const PublishedContext& context);

}  // namespace deft::reporting
