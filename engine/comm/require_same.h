#pragma once
// Checks the values that must be the same on all ranks before they train together.

#include <string>

#include "engine/comm/communicator.h"

namespace deft::engine {

// `what`, as "the program", is `text` on this rank, as a hash. All ranks call it. Errors: config, on every rank and
// naming both, where another rank has another text than rank 0.
void require_same(const Communicator& ranks, const std::string& what, const std::string& text, const std::string& fix);

}  // namespace deft::engine
