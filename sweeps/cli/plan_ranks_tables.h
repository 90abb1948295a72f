#pragma once
// Tables of deft plan --ranks: memory of a rank, and its traffic per step.

#include "reporting/table.h"
#include "sweeps/driver/plan_ranks.h"

namespace deft::cli {

// Both have one line for each trained row.
reporting::Table rank_memory_table(const sweeps::RanksPlan& ranks, const sweeps::Plan& plan);
reporting::Table rank_traffic_table(const sweeps::RanksPlan& ranks, const sweeps::Plan& plan);

}  // namespace deft::cli
