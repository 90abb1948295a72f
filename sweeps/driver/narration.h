#pragma once
// The user's view of a run: lines about its trials, the live block, and the conclusion.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "results_db/writer.h"
#include "sweeps/driver/children.h"
#include "sweeps/driver/driver.h"
#include "sweeps/driver/queue.h"

namespace deft::sweeps {

// A training's seconds and loss, kept for the line that reports the trial once it is evaluated.
struct EndedTraining {
    double seconds = 0;          // of its worker
    std::optional<double> loss;  // of the last step
};

// How far a run is: what its loop changes, and what is shown of it.
struct RunState {
    TrialQueue queue;
    std::vector<Child> running;
    RunSummary summary;
    std::set<std::size_t> trained;                         // of the waiting ones, those that are to be scored alone
    std::map<std::size_t, EndedTraining> ended_trainings;  // by trial, of this run
    bool draining = false;                                 // no trial starts any more
    Clock::time_point started = Clock::now();
    double flops_done = 0, device_seconds = 0;  // of the trials that have ended
};

ProgressView view_of(const RunState& state, const Spec& spec, const std::vector<Trial>& trials,
                     const DriverOptions& options);

// A trial's own words at its start, and where it goes on from.
void report_resume(const Child& child, const journal::Started& started, Progress& progress);
// One line for a trial that has trained and has all its scores. `imports`: its model is taken as it is, without
// training.
void report_finished(const Child& child, bool imports, const EndedTraining& training, Progress& progress);
// With the last lines of its log.
void report_failure(const Child& child, const results_db::Outcome& outcome, Progress& progress);

// "3 ok, 1 left in 2m05s; to go on: deft run ...".
std::string conclusion(const RunState& state, const DriverOptions& options);

}  // namespace deft::sweeps
