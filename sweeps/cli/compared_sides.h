#pragma once
// The meaning of the two names of `deft compare`.

#include <memory>
#include <string>
#include <vector>

#include "reporting/analysis/compare/compare.h"
#include "reporting/analysis/results/results.h"
#include "results_db/reader.h"

namespace deft::cli {

// A side with all that it points to.
struct NamedSide {
    reporting::Results sweep;
    std::vector<reporting::Row> rows;
    reporting::Curves curves;
    reporting::CompareSide side;
};

// In this order: a sweep (NAME or NAME@HASH); SWEEP:RECIPE, SWEEP:ROW or SWEEP:TRIAL; a recipe, a row or a trial of the
// newest sweep; the start of a trial's configuration hash, within the newest sweep that has it. A row is named as in
// `deft trace`, a trial as tables print it, with its seed; a recipe means all of its rows. Staleness is looked up.
// Errors: usage, with the nearest name.
std::unique_ptr<NamedSide> named_side(const results_db::Reader& reader, const std::string& name,
                                      const std::string& root);

}  // namespace deft::cli
