#pragma once
// Ranks without MPI: connections over TCP, each rank's with each other one.

#include <memory>

#include "engine/comm/meeting.h"
#include "engine/comm/transport.h"

namespace deft::engine::sockets {

// Meets the others; null where this process is alone. Errors: config, where they were not started for each other; io.
std::shared_ptr<Transport> join(const Meeting& meeting);

}  // namespace deft::engine::sockets
