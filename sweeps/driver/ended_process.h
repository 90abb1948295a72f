#pragma once
// The end of a child process that leads a group of its own.

#include <sys/resource.h>
#include <sys/types.h>

#include <optional>

namespace deft::sweeps {

struct EndedProcess {
    int wait_status = 0;  // as waitpid() gives it
    struct rusage usage {};
};
// Waits for a child that has ended, after it has killed the rest of its group. Nothing while it runs.
std::optional<EndedProcess> take_ended_process(pid_t pid);

}  // namespace deft::sweeps
