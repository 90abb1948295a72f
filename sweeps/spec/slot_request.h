#pragma once
// The request of a sweep, or --slots, for where its trials may run.

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace deft::sweeps {

inline constexpr int kMostRanks = 1024;  // of a trial

// The value of `slots`: "auto", "cpu:N", "gpu", "gpu:N", "gpu:N/K", "gpu:N/auto".
struct SlotRequest {
    enum class Where { automatic, cpu, gpu } where = Where::automatic;
    int count = 0;                     // cpu: trials at once; gpu: cards, 0 for every visible one
    int per_gpu = 1;                   // trials at once on a card; 0: as many as its memory holds
    int ranks = 1;                     // processes of each trial
    int ranks_per_node = 0;            // of them; 0: all
    bool is_queued = false;            // a batch system finds the machine of each trial
    int trials_of_job = 1;             // at once, in a job of that batch system
    std::vector<int> node_cores = {};  // of each node that trials run on; empty: on this machine alone
    // Fewest slots of a host, where trials run on the hosts of a hostfile; 0: not stated there.
    std::optional<int> host_slots = {};
    std::string text = "auto";

    int ranks_of_node() const { return ranks_per_node == 0 ? ranks : ranks_per_node; }
    int nodes_of_trial() const { return ranks / ranks_of_node(); }
};
// Errors: config or usage, with the place where one is given.
SlotRequest parse_slots(const std::string& text, const Place& place = {});

// Errors: config or usage, with the place where one is given, where ranks_per_node does not divide ranks.
void require_ranks_per_node(int ranks, int ranks_per_node, const Place& place = {});

}  // namespace deft::sweeps
