#pragma once
// Whether a trial still keeps what its journal promises: a next line within a time.

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/stopwatch.h"

namespace deft::sweeps {

class TrialPulse {
 public:
    // `first_promise`: seconds until the first promise of the trial's own, for loading its data.
    explicit TrialPulse(double first_promise) : promised_(first_promise) {}

    // Takes note of what the journal has more than at the last look. Its lines are believed as they come: whether they
    // are whole records is for the ingestion to say.
    void look(const std::filesystem::path& journal);

    // Seconds by which the promise is broken; negative while it is kept. Time in which the machine slept does not count.
    double overdue() const { return seconds_since(heard_) - promised_; }
    // "training", "saving a checkpoint"; "starting" before it says.
    const std::string& doing() const { return doing_; }

 private:
    std::uintmax_t read_ = 0;  // bytes of whole lines
    Clock::time_point heard_ = Clock::now();
    double promised_;
    std::string doing_ = "starting";
};

}  // namespace deft::sweeps
