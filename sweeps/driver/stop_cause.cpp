#include "sweeps/driver/stop_cause.h"

#include <array>
#include <cstddef>

namespace deft::sweeps {

namespace {

// Sites let Slurm send its signal up to this long before a job's time ends.
constexpr std::int64_t kNearEndMs = 600'000;

// In the order of StopCause. An attempt that a job's end stopped has not failed: it goes on in the next job.
constexpr std::array<StopRecord, 4> kRecords = {{
    {"preempted", "preempt", "asked to stop"},
    {"cancelled", "user", "stopped by the user"},
    {"preempted", "preempt", "stopped by Slurm, which preempted or cancelled the job"},
    {"preempted", "timeout", "stopped by Slurm at the end of the job's time"},
}};

}  // namespace

StopCause cause_of_stop(bool by_sigterm, std::int64_t now_ms, const slurm::Variables& variables) {
    if (!by_sigterm || !slurm::is_in_job(variables)) return StopCause::user;
    const std::optional<std::int64_t> end_seconds = slurm::number_in("SLURM_JOB_END_TIME", variables);
    const bool is_near_end = end_seconds && *end_seconds <= (now_ms + kNearEndMs) / 1000;
    return is_near_end ? StopCause::time_limit : StopCause::preemption;
}

const StopRecord& record_of(StopCause cause) {
    return kRecords[static_cast<std::size_t>(cause)];
}

}  // namespace deft::sweeps
