#pragma once
// Shared parts of every attempt: its journal, how it ends, and the resources that it used.

#include <cstdint>
#include <filesystem>
#include <functional>

#include "base/journal.h"
#include "base/stopwatch.h"
#include "engine/comm/communicator.h"
#include "engine/core/backend.h"
#include "experiments/projection.h"

namespace deft::experiments {

// The devices that the driver gives an attempt; of several GPUs the environment shows it one.
struct TrialSlot {
    engine::Device device = engine::Device::cpu;
    int threads = 1;                           // of each rank
    engine::Communicator ranks = {};           // processes that do it together, this one among them
    Clock::time_point started = Clock::now();  // since when this process holds the slot
    std::int64_t memory_bytes = 0;             // that each rank may plan; 0: not known
};

// run_folder/journal.jsonl of rank 0, who alone journals what is done. Others write one only to say why they failed.
std::filesystem::path journal_of_rank(const std::filesystem::path& run_folder, int rank);

// `work` appends to the journal and fills what it knows of the end; false: it was stopped, and what it did so far is
// kept. Whatever it throws is in the Ended record; after NotOwner nothing is written. Returns an exit code: 0 ok, 1
// failed, 75 stopped or not the owner. Of several ranks each one calls it; one that fails will end without the others.
int run_attempt(const std::filesystem::path& run_folder, const TrialSlot& slot,
                const std::function<bool(journal::Writer&, journal::Ended&)>& work);

// Meets the other ranks, where there are any, and adds the seconds that this one waited for them.
void meet_ranks(const TrialSlot& slot, double& waited_seconds, const std::function<void()>& meet);

// Promised time for a checkpoint with this many bytes per parameter.
double saving_seconds(std::int64_t parameters, double bytes);

// Promised time for one optimizer step, or for one evaluated micro-batch.
double longest_step_seconds(const Projection& projection, const TrialSlot& slot);

}  // namespace deft::experiments
