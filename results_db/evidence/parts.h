#pragma once
// One sweep as several texts, for one whose results are too long for one.

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "results_db/evidence/evidence.h"
#include "results_db/evidence/places.h"

namespace deft::results_db {

// The trials of each part, by configuration hash: in the order of the table, cut between places, so that a part holds
// neighbouring rows and a sweep may have any number of them. Errors: usage, for more parts than places.
std::vector<std::set<std::string>> hashes_of_parts(const std::vector<KnownPlace>& places, std::size_t parts);

// How many parts there may be.
std::size_t most_parts(const std::vector<KnownPlace>& places);

}  // namespace deft::results_db
