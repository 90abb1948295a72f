#pragma once
// A trial's process: who it is, how it ended, how to end it.

#include <sys/resource.h>
#include <sys/types.h>

#include "results_db/store.h"
#include "sweeps/run_folder.h"

namespace deft::sweeps {

// Start ticks stay 0 where the process is gone.
results_db::ProcessIdentity identify(pid_t pid);
// Whether that very process still runs: not a later one with its number, and no zombie.
bool is_running(const results_db::ProcessIdentity& process);

void ask_group_to_end(pid_t pid);
// Asks the group to end, then makes it. False where the process outlived even that.
bool end_group(const results_db::ProcessIdentity& process, int grace_ms);

// What the driver knows at a child's end.
struct ChildEnd {
    int wait_status = 0;
    struct rusage usage {};
    bool stopped_by_user = false;
    bool kernel_killed_for_memory = false;
};
results_db::Outcome classify(const ChildEnd& end, const JournalSummary& journal);

// True for failures that another try may mend.
bool worth_another_try(const results_db::Outcome& outcome);

// How many processes of this control group the kernel has killed for memory so far; 0 where it does not say.
long memory_kills();

}  // namespace deft::sweeps
