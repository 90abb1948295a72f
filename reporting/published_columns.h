#pragma once
// A paper's columns, each right beside the measured one that answers the same question.

#include <string>
#include <vector>

#include "reporting/field.h"
#include "reporting/published.h"
#include "results_db/store.h"

namespace deft::reporting {

// What the published columns are to be laid beside; all must outlive the fields.
struct PublishedContext {
    const PublishedTable& table;
    const results_db::SweepResults& sweep;
    const std::vector<Variant>& variants;
    std::string base_case;
    std::string scale;
};

// Beside the measured train time: hours, and their ratio to the published baseline. At most one field.
std::vector<Field> published_time_fields(const PublishedContext& context);

// For each suite average that this sweep measured: measured, published, and both against the baseline at 100%.
std::vector<Field> average_fields(const PublishedContext& context);

// Source, what does not compare, and what was published but not measured here.
std::vector<std::string> published_notes(const PublishedContext& context);

}  // namespace deft::reporting
