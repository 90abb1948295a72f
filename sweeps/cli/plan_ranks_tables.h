#pragma once
// What deft plan --ranks shows: memory of a rank, and what it sends in a step.

#include "reporting/table.h"
#include "sweeps/driver/plan_ranks.h"

namespace deft::cli {

// Both have a row a variant that is trained.
reporting::Table rank_memory_table(const sweeps::RanksPlan& ranks, const sweeps::Plan& plan);
reporting::Table rank_traffic_table(const sweeps::RanksPlan& ranks, const sweeps::Plan& plan);

}  // namespace deft::cli
