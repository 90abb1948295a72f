#pragma once
// The findings of deft tune, as tables and as a recipe to paste.

#include <optional>
#include <string>

#include "experiments/tuning/tune.h"
#include "reporting/table.h"
#include "sweeps/spec/spec.h"

namespace deft::cli {

// A row a probe, in their order.
reporting::Table probe_table(const experiments::Tuning& tuning);

// The state of each technique's start and duration, beside its own.
reporting::Table found_table(const experiments::Tuning& tuning);

// The projected cost of one trial without the techniques, with them as written, and with them as tuned; the notes
// say what the probes took. dollars_an_hour: of all devices of a trial.
reporting::Table cost_table(const experiments::TrialConfig& own, const experiments::Tuning& tuning,
                            const std::optional<double>& dollars_an_hour);

// A [[case]] like `entry`, with what was found laid over it and a name of its own.
std::string tuned_recipe_toml(const sweeps::Recipe& entry, const experiments::Tuning& tuning);

}  // namespace deft::cli
