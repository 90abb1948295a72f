#include "base/inherited_signals.h"

#include <pthread.h>

#include <csignal>

namespace deft {

void reset_inherited_signals(std::span<const int> kept) {
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    ::sigaction(SIGCHLD, &action, nullptr);
    ::sigaction(SIGPIPE, &action, nullptr);
    action.sa_handler = SIG_IGN;
    ::sigaction(SIGXFSZ, &action, nullptr);
    sigset_t inherited, blocked;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &inherited);
    sigemptyset(&blocked);
    for (const int signal : kept)
        if (sigismember(&inherited, signal) == 1) sigaddset(&blocked, signal);
    ::pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
}

}  // namespace deft
