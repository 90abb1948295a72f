#pragma once
// Which path the matrix products of a GPU took, as tables and JSON.

#include <vector>

#include "base/json_fwd.h"
#include "engine/bench/profile.h"
#include "reporting/table.h"

namespace deft::cli {

// One row a product of each op, the costliest first.
reporting::Table product_paths_table(const std::vector<engine::ProfiledOp>& ops);

Json plan_counts_json(const kernels::cuda::PlanCounts& plans);

// Products and large fallbacks, as keys of a result.
Json product_paths_json(const std::vector<kernels::cuda::ProductRecord>& products);

}  // namespace deft::cli
