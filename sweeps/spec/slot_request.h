#pragma once
// The request of a sweep, or --slots, for where its trials may run.

#include <string>
#include <vector>

#include "base/error.h"

namespace deft::sweeps {

inline constexpr int kMostRanks = 1024;  // of a trial

// The value of `slots`: "auto", "cpu:N", "gpu", "gpu:N", "gpu:N/K".
struct SlotRequest {
    enum class Where { automatic, cpu, gpu } where = Where::automatic;
    int count = 0;                     // cpu: trials at once; gpu: cards, 0 for every visible one
    int per_gpu = 1;                   // trials at once on a card
    int ranks = 1;                     // processes of each trial
    bool is_queued = false;            // a batch system finds the machine of each trial
    std::vector<int> node_cores = {};  // of each node that trials run on; empty: on this machine alone
    std::string text = "auto";
};
// Errors: config or usage, with the place where one is given.
SlotRequest parse_slots(const std::string& text, const Place& place = {});

}  // namespace deft::sweeps
