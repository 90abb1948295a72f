#pragma once
// What every attempt shares, whatever it does: its journal, how it ends, what it used.

#include <filesystem>
#include <functional>

#include "base/journal.h"
#include "engine/core/backend.h"
#include "experiments/projection.h"

namespace deft::experiments {

// What the driver gives an attempt to compute with; of several GPUs the environment shows it one.
struct TrialSlot {
    engine::Device device = engine::Device::cpu;
    int threads = 1;
};

// `work` appends to run_folder/journal.jsonl and fills what it knows of the end; false: it was stopped, and what it did
// so far is kept. Whatever it throws is in the Ended record. Returns an exit code: 0 ok, 1 failed, 75 stopped.
int run_attempt(const std::filesystem::path& run_folder, const TrialSlot& slot,
                const std::function<bool(journal::Writer&, journal::Ended&)>& work);

// What may be promised for a checkpoint of so many bytes a parameter.
double saving_seconds(std::int64_t parameters, double bytes);

// What may be promised for one optimizer step, or for one micro-batch that is scored.
double longest_step_seconds(const Projection& projection, int threads);

}  // namespace deft::experiments
