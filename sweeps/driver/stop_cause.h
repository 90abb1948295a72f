#pragma once
// Who asked the running trials to stop, and how an attempt that stopped for that is recorded.

#include <cstdint>

#include "base/slurm.h"

namespace deft::sweeps {

// none: the driver did not ask, so somebody asked the trial itself.
enum class StopCause { none, user, preemption, time_limit };

// Inside a Slurm job SIGTERM comes from Slurm, near the job's end for its time; every other signal is the user's.
StopCause cause_of_stop(bool by_sigterm, std::int64_t now_ms, const slurm::Variables& variables = slurm::own_variable);

struct StopRecord {
    const char* state;
    const char* fail_class;
    const char* why;
};
const StopRecord& record_of(StopCause cause);

}  // namespace deft::sweeps
