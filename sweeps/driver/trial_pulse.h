#pragma once
// Whether a trial still keeps what its journal promises: a next line within a time.

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/stopwatch.h"

namespace deft::sweeps {

inline constexpr double kStartSeconds = 600;  // that a trial may load its data before it promises anything

// Only time that somebody watched counts: not what the machine slept, nor what a signal stopped the watching process,
// and then perhaps the trial with it.
class TrialPulse {
 public:
    // `first_promise`: seconds until the first promise of the trial's own, for loading its data.
    explicit TrialPulse(double first_promise) : promised_(first_promise) {}

    // Takes note of what the journal has more than at the last look. Its lines are believed as they come: whether they
    // are whole records is for the ingestion to say.
    void look(const std::filesystem::path& journal);
    // The time since the last look does not count.
    void rest() { looked_ = Clock::now(); }

    // As of the last look: seconds without a line, those that were promised, and by how many of them the promise is
    // broken; negative while it is kept.
    double silent() const { return silent_; }
    double promised() const { return promised_; }
    double overdue() const { return silent_ - promised_; }
    // "training", "saving a checkpoint"; "starting" before it says, "ending" after its last line.
    const std::string& doing() const { return doing_; }
    // Whether the journal has its last line.
    bool has_ended() const { return has_ended_; }

 private:
    std::uintmax_t read_ = 0;  // bytes of whole lines
    Clock::time_point looked_ = Clock::now();
    double silent_ = 0;
    double promised_;
    std::string doing_ = "starting";
    bool has_ended_ = false;
};

}  // namespace deft::sweeps
