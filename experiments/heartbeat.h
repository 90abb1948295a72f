#pragma once
// A trial's promise to its driver, in its journal: the next line comes within a time. A trial that breaks its promise
// has hung.

#include <functional>
#include <optional>
#include <string>

#include "base/journal.h"
#include "base/stopwatch.h"

namespace deft::experiments {

// Ends work that is to stop, from within it.
struct StopAsked {};

class Heartbeat {
 public:
    // `stop`: whether somebody wants the trial to end. `ranks`: that do it together.
    Heartbeat(journal::Writer& journal, std::function<bool()> stop, int ranks = 1);

    // Announces the activity from now on, for messages, and the longest time until the next beat or begin.
    void begin(const std::string& doing, double seconds);
    // The same of computing alone, in pieces of which none is more than `growth` times as much work as another. Where a
    // rank may keep others waiting, how long the first pieces took is promised for the next ones.
    void begin_pieces(const std::string& doing, double seconds, double growth);
    // A piece of the work is done: a step, a batch. A piece that took unexpectedly long makes later promises longer.
    void beat();
    // A beat that throws StopAsked once somebody wants the trial to end.
    void beat_or_stop();
    // The first time that it is true the journal answers: the trial has heard.
    bool stopping();

 private:
    void start(const std::string& doing, double promised_seconds);
    void write();

    journal::Writer& journal_;
    std::function<bool()> stop_;
    bool several_ranks_;
    std::string doing_;
    double promised_seconds_ = 0;
    std::optional<double> growth_;  // nothing: promises are not measured
    double at_most_ = 0;            // seconds of a piece, as planned
    double longest_ = 0;            // of a piece so far, as measured
    Clock::time_point written_, beaten_;
    bool answered_ = false;
};

}  // namespace deft::experiments
