#pragma once
// A trial's process: who it is, how it ended, how to end it.

#include <sys/resource.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "results_db/writer.h"
#include "sweeps/driver/launcher.h"
#include "sweeps/driver/run_folder.h"
#include "sweeps/driver/stop_cause.h"

namespace deft::sweeps {

// Start ticks stay 0 where the process is gone.
results_db::ProcessIdentity identify(pid_t pid);
// Whether that very process still runs: not a later one with its number, and no zombie.
bool is_running(const results_db::ProcessIdentity& process);

// The start time of a live process; 0 otherwise.
pid_t parent_of(pid_t pid);
std::vector<pid_t> children_of(pid_t pid);
// Whether a signal has stopped it.
bool is_stopped(pid_t pid);
// Whether it is gone, or waits for its parent to take note of its end.
bool has_ended(pid_t pid);
// That its threads computed so far, without what the kernel did for them; 0 of a process that is gone.
double computing_seconds(pid_t pid);

void ask_group_to_end(pid_t pid);
// Asks the group to end, and kills it after the grace. False where the process outlives even that.
bool end_group(const results_db::ProcessIdentity& process, int grace_ms);

// The driver's knowledge at a child's end.
struct ChildEnd {
    int wait_status = 0;
    std::optional<struct rusage> usage;    // nothing: another machine ran it, and its journal alone has this
    StopCause asked_by = StopCause::none;  // to stop
    std::string killed_because;            // by the driver, in words; empty: it was not
    bool hung = false;                     // that was the reason
    bool kernel_killed_for_memory = false;
    BatchEnd batch_end = BatchEnd::none;
    std::string batch_words;
    double held_seconds = 0;              // of its slot
    std::optional<double> queue_seconds;  // that it waited for nodes; nothing: it does not wait here
    std::int64_t ended_ms = 0;
};
// A trial that was ended by a signal which the driver did not send has crashed, also where it had been asked to stop.
results_db::Outcome classify(const ChildEnd& end, const JournalSummary& journal);

// How many processes of this control group the kernel has killed for memory so far; 0 where it does not say.
long memory_kills();

}  // namespace deft::sweeps
