#pragma once
// The comparison table of a sweep: one row a recipe and budget, means over seeds, each resource also relative to the
// baseline.

#include <optional>
#include <string>

#include "reporting/analysis/published/published.h"
#include "reporting/analysis/results/results.h"
#include "reporting/table.h"

namespace deft::reporting {

// Facts about a sweep beside its trials; empty where unknown.
struct SweepAbout {
    std::string baseline;  // the recipe that ratios refer to, at full budget; the first one where empty
    std::string scale;     // empty: the file as written
    std::string title;
    std::string command;      // that trains what is missing
    std::string points = {};  // the sweep's file and options as `deft run` takes them, without --only and --root
    std::optional<PublishedTable> published = {};  // printed beside what was measured
    std::string commit_now = {};                   // of the program that reports
};

Table comparison_table(const Results& sweep, const SweepAbout& about);

}  // namespace deft::reporting
