#pragma once
// Keys of one layer of a sweep that a layer above it makes ineffective.

#include "base/config.h"

namespace deft::sweeps {

// Before `overlay` is laid over the tables of a trial: a preset of the overlay replaces the whole [model] below it; its
// optimizer or decay drops the keys that belong to another one.
void drop_overruled(ConfigNode& trial, const ConfigNode& overlay);

}  // namespace deft::sweeps
