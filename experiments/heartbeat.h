#pragma once
// What a trial promises its driver, in its journal: the next line comes within a time. A trial that breaks its promise
// has hung.

#include <functional>
#include <string>

#include "base/journal.h"
#include "base/stopwatch.h"

namespace deft::experiments {

// Ends work that is to stop, from within it.
struct StopAsked {};

class Heartbeat {
 public:
    // `stop`: whether somebody wants the trial to end.
    Heartbeat(journal::Writer& journal, std::function<bool()> stop);

    // What is done from now on, for whoever waits for it, and the longest that may take until the next beat or begin.
    void begin(const std::string& doing, double seconds);
    // A piece of the work is done: a step, a batch. A piece that took unexpectedly long makes later promises longer.
    void beat();
    // Likewise. Throws StopAsked once somebody wants the trial to end.
    void beat_or_stop();
    // The first time that it is true the journal answers: the trial has heard.
    bool stopping();

 private:
    void write();

    journal::Writer& journal_;
    std::function<bool()> stop_;
    std::string doing_;
    double promised_seconds_ = 0;
    Clock::time_point written_, beaten_;
    bool answered_ = false;
};

}  // namespace deft::experiments
