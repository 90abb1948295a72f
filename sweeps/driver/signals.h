#pragma once
// Signals while a sweep or a trial runs: blocked, and looked at between two pieces of work.

#include <array>
#include <csignal>

namespace deft::sweeps {

// The signals that a driver and its trials handle by looking whether one is pending. A trial is started with them
// blocked already, so that none of them can end it while it starts.
inline constexpr std::array<int, 4> kWatchedSignals = {SIGINT, SIGTERM, SIGHUP, SIGCHLD};

// Blocks those signals for its lifetime, in the calling thread and in threads that it starts from then on: make it
// before any of them. No handler is installed. A handler's frame would be written below the stack pointer of whichever
// thread the kernel picks, and the products that oneDNN 2.6 generates keep that register in the heap while they run.
// SIGHUP stays ignored where it is (as under nohup), and SIGPIPE is ignored. One at a time.
class SignalWatch {
 public:
    SignalWatch();
    ~SignalWatch();
    SignalWatch(const SignalWatch&) = delete;
    SignalWatch& operator=(const SignalWatch&) = delete;

    int interrupts() const;   // Ctrl-C so far
    bool terminated() const;  // SIGTERM or SIGHUP
    bool has_sigterm() const;
    // Sleeps; a signal, a child's end too, cuts it short.
    void sleep_ms(int milliseconds) const;

 private:
    void take(int signal) const;
    void take_pending() const;

    sigset_t watched_{}, old_mask_{};
    struct sigaction old_pipe_ {};
    mutable int interrupts_ = 0, sigterms_ = 0, hangups_ = 0;
};

}  // namespace deft::sweeps
