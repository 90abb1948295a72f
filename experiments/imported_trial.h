#pragma once
// A trial that trains nothing: a model of others becomes a checkpoint like those of trained trials, which is then
// scored as they are.

#include <functional>

#include "base/journal.h"
#include "experiments/config.h"
#include "experiments/trial.h"

namespace deft::experiments {

// Whole or not at all: what a kill interrupts is done again. Errors: io, for damaged files; config, for those that have
// changed since the trial was planned, do not fit the data's tokenizer, or lack weights; memory.
void import_trial(const TrialConfig& config, const TrialPlaces& places, journal::Writer& journal,
                  const std::function<bool()>& stop);

}  // namespace deft::experiments
