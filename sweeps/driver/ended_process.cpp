#include "sweeps/driver/ended_process.h"

#include <sys/wait.h>

#include <cerrno>
#include <csignal>

namespace deft::sweeps {

std::optional<EndedProcess> take_ended_process(pid_t pid) {
    siginfo_t how{};
    if (::waitid(P_PID, static_cast<id_t>(pid), &how, WEXITED | WNOHANG | WNOWAIT) != 0 || how.si_pid == 0)
        return std::nullopt;
    // Helpers that it may have started end with it: as long as it has not been waited for, the number of its group
    // cannot be anybody else's.
    ::kill(-pid, SIGKILL);
    EndedProcess ended;
    while (::wait4(pid, &ended.wait_status, 0, &ended.usage) < 0 && errno == EINTR) {
    }
    return ended;
}

}  // namespace deft::sweeps
