#pragma once
// What a trial's process costs beside its optimizer steps: measured from outside, on a real `deft trial`.

#include <filesystem>

#include "sweeps/spec/expand.h"

namespace deft::sweeps {

// Where the trials run: everything in a folder of their own, the corpus tokenised before.
struct OverheadBench {
    std::filesystem::path root;
    std::filesystem::path program = "/proc/self/exe";
    int threads = 1;
};

// Seconds from starting the process to the journal's line of the first step; the trial is ended then.
// Errors: io, for a trial that ends before.
double seconds_to_first_step(const Point& point, const OverheadBench& bench);

// Seconds of one whole trial.
struct TrialSeconds {
    double process = 0;  // from its start to its end
    double steps = 0, training = 0, evaluation = 0;

    // Neither steps nor scores: start-up, journal, checkpoint, end.
    double overhead() const { return process - steps - evaluation; }
};
// Errors: io, for a trial that does not end well.
TrialSeconds time_whole_trial(const Point& point, const OverheadBench& bench);

}  // namespace deft::sweeps
