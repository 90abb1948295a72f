#pragma once
// Signals while a sweep runs: counted, looked at between two polls.

#include <csignal>

namespace deft::sweeps {

// Takes over SIGINT, SIGTERM, SIGHUP (unless ignored, as by nohup), SIGCHLD and SIGPIPE for its lifetime. One at a
// time.
class SignalWatch {
 public:
    SignalWatch();
    ~SignalWatch();
    SignalWatch(const SignalWatch&) = delete;
    SignalWatch& operator=(const SignalWatch&) = delete;

    int interrupts() const;   // Ctrl-C so far
    bool terminated() const;  // SIGTERM or SIGHUP
    // Sleeps; a signal, a child's end too, cuts it short.
    void sleep_ms(int milliseconds) const;

 private:
    static constexpr int kWatched[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGPIPE};
    struct sigaction old_[sizeof kWatched / sizeof *kWatched];
};

}  // namespace deft::sweeps
