#pragma once
// One sweep as several texts, for one whose results are too long for one.

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "results_db/evidence/evidence.h"
#include "results_db/evidence/places.h"

namespace deft::results_db {

// The trials of each part, by configuration hash: those of every row's first place, then those of the second ones, and so
// on, cut into as many parts, between places. So the first part has a trial of every row, and tells their order. Errors:
// usage, for more parts than there are trials for a row.
std::vector<std::set<std::string>> hashes_of_parts(const std::vector<KnownPlace>& places, std::size_t parts);

// How many parts there may be.
std::size_t most_parts(const std::vector<KnownPlace>& places);

}  // namespace deft::results_db
