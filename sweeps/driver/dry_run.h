#pragma once
// What a run would do, without doing it.

#include <vector>

#include "sweeps/driver/driver.h"

namespace deft::sweeps {

// Says what is done and what is left, as far as can be seen without writing anything. Errors: database.
RunSummary dry_run(const Spec& spec, const std::vector<Point>& points, const DriverOptions& options);

}  // namespace deft::sweeps
