#include "sweeps/driver/signals.h"

#include <pthread.h>

#include <ctime>

namespace deft::sweeps {

namespace {

bool is_ignored(int signal) {
    struct sigaction action {};
    return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

SignalWatch::SignalWatch() {
    sigemptyset(&watched_);
    for (const int signal : kWatchedSignals)
        // Under nohup, a terminal that vanishes must not stop the run.
        if (signal != SIGHUP || !is_ignored(signal)) sigaddset(&watched_, signal);
    ::pthread_sigmask(SIG_BLOCK, &watched_, &old_mask_);
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &ignore, &old_pipe_);
}

SignalWatch::~SignalWatch() {
    // A pending signal was meant for the work that has just ended: unblocked, it would end the process.
    take_pending();
    ::sigaction(SIGPIPE, &old_pipe_, nullptr);
    ::pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
}

void SignalWatch::take(int signal) const {
    if (signal == SIGINT) ++interrupts_;
    if (signal == SIGTERM) ++sigterms_;
    if (signal == SIGHUP) ++hangups_;
}

void SignalWatch::take_pending() const {
    const timespec now{};
    for (int signal = 0; (signal = ::sigtimedwait(&watched_, nullptr, &now)) > 0;) take(signal);
}

int SignalWatch::interrupts() const {
    take_pending();
    return interrupts_;
}

bool SignalWatch::terminated() const {
    take_pending();
    return sigterms_ + hangups_ > 0;
}

bool SignalWatch::has_sigterm() const {
    take_pending();
    return sigterms_ > 0;
}

void SignalWatch::sleep_ms(int milliseconds) const {
    const timespec duration{milliseconds / 1000, (milliseconds % 1000) * 1'000'000L};
    const int signal = ::sigtimedwait(&watched_, nullptr, &duration);
    if (signal > 0) take(signal);
}

}  // namespace deft::sweeps
