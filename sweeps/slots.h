#pragma once
// How many trials run at once, and on how many threads each.

#include <string>

#include "base/error.h"

namespace deft::sweeps {

// "auto": as many as the cores allow at `threads` each, at least one. "cpu:N": N.
// Errors: config or usage, with the place where one is given.
int slot_count(const std::string& text, int threads, const Place& place = {});

// The cores that this process may use.
int usable_cores();

}  // namespace deft::sweeps
