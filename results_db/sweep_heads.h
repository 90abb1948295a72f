#pragma once
// The sweeps of a database, and how they are named: "NAME", or "NAME@HASH" where --set, --scale or an edited file made
// several of one name.

#include <string>
#include <vector>

#include "results_db/connection.h"
#include "results_db/rows.h"

namespace deft::results_db {

// "quickstart@0123456789ab": what find_sweep takes back.
std::string full_name(const SweepHead& sweep);

// "train.learning_rate=0.001, seeds=3": what --set changed; empty where it changed nothing.
std::string overrides_text(const SweepHead& sweep);

std::vector<SweepHead> read_sweeps(Connection& connection);  // newest first

// Finds in `sweeps`, newest first, the first with that name, or the one whose hash has that prefix. `file` is for
// messages. Errors: missing, with the known ones; usage, where several hashes match.
SweepHead find_sweep(const std::vector<SweepHead>& sweeps, const std::string& selector, const std::string& file);

}  // namespace deft::results_db
