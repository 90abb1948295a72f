#pragma once
// What one layer of a sweep says that a layer above it leaves without a meaning.

#include "base/config.h"

namespace deft::sweeps {

// Before `overlay` is laid over the tables of a trial: a preset of the overlay stands for the whole [model] below it; its
// optimizer or decay drops the keys that belong to another one.
void drop_overruled(ConfigNode& trial, const ConfigNode& overlay);

}  // namespace deft::sweeps
