#pragma once
// The ranks that this program runs on: those of its launcher, or alone.

#include "engine/comm/communicator.h"

namespace deft::test {

inline const engine::Communicator& all_ranks() {
    static const engine::Communicator ranks = engine::Communicator::of_launcher();
    return ranks;
}

}  // namespace deft::test
