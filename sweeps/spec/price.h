#pragma once
// What a device-hour costs.

#include <optional>

#include "results_db/store.h"
#include "sweeps/spec/spec.h"

namespace deft::sweeps {

// The sweep's own price; nothing where it has none, and costs then stay unknown.
std::optional<results_db::Price> price_for(const Spec& spec);

}  // namespace deft::sweeps
