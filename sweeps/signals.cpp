#include "sweeps/signals.h"

#include <ctime>

namespace deft::sweeps {

namespace {

volatile std::sig_atomic_t interrupt_count = 0;
volatile std::sig_atomic_t terminate_count = 0;

void on_signal(int signal) {
    if (signal == SIGINT)
        interrupt_count = interrupt_count + 1;
    else if (signal == SIGTERM || signal == SIGHUP)
        terminate_count = terminate_count + 1;
}

}  // namespace

SignalWatch::SignalWatch() {
    interrupt_count = 0;
    terminate_count = 0;
    struct sigaction action {};
    action.sa_handler = on_signal;  // without SA_RESTART, so that sleeping ends
    sigemptyset(&action.sa_mask);
    int i = 0;
    for (const int signal : kWatched) {
        struct sigaction& old = old_[i++];
        ::sigaction(signal, &action, &old);
        // Under nohup, a terminal that vanishes is no reason to stop.
        if (signal == SIGHUP && old.sa_handler == SIG_IGN) ::sigaction(signal, &old, nullptr);
    }
}

SignalWatch::~SignalWatch() {
    int i = 0;
    for (const int signal : kWatched) ::sigaction(signal, &old_[i++], nullptr);
}

int SignalWatch::interrupts() const {
    return interrupt_count;
}

bool SignalWatch::terminated() const {
    return terminate_count > 0;
}

void SignalWatch::sleep_ms(int milliseconds) const {
    const timespec duration{milliseconds / 1000, (milliseconds % 1000) * 1'000'000L};
    ::nanosleep(&duration, nullptr);
}

}  // namespace deft::sweeps
