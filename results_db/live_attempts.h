#pragma once
// Attempts that a driver started and has not given an end.

#include <cstdint>
#include <string>
#include <vector>

#include "results_db/rows.h"

namespace deft::results_db {

class Connection;

struct ProcessIdentity {  // distinguishes a process from a later one with the same pid
    std::int64_t pid = 0;
    std::int64_t start_ticks = 0;
    std::string boot_id;
};

struct LiveAttempt {
    std::int64_t id = 0;
    std::int64_t trial_id = 0;
    std::string config_hash;
    std::string workdir;
    ProcessIdentity process;
    Work work = Work::train;
    std::string launcher;
    std::int64_t started_ms = 0;  // submitted, where a batch system starts it
};

// Still marked leased or running, in their order.
std::vector<LiveAttempt> live_attempts(Connection& connection);

}  // namespace deft::results_db
