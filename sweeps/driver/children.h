#pragma once
// Running attempts of trials: started, watched, asked to stop, killed and waited for.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/journal.h"
#include "base/stopwatch.h"
#include "results_db/writer.h"
#include "sweeps/driver/adoption.h"
#include "sweeps/driver/launcher.h"
#include "sweeps/driver/progress.h"
#include "sweeps/driver/record_sweep.h"
#include "sweeps/driver/run_folder.h"
#include "sweeps/driver/trial_process.h"
#include "sweeps/driver/trial_pulse.h"

namespace deft::sweeps {

// A trial under way.
struct Child {
    std::size_t trial = 0, slot = 0;
    results_db::Work work = results_db::Work::train;
    std::string name;  // of the trial, fit for a terminal
    std::int64_t attempt = 0;
    std::filesystem::path folder;
    RunId run = -1;
    RunPhase phase = RunPhase::waiting;
    bool has_begun = false;      // to run
    bool is_adopted = false;     // an earlier driver started it
    bool was_cancelled = false;  // before this driver adopted it
    bool was_live = false;       // this driver has seen it wait or run
    std::string waits_for;       // in words, where it has not
    std::string host;            // where it runs; empty: not known yet
    Clock::time_point launched;
    Clock::time_point started;  // to run, as far as is known

    // The journal as far as it was read.
    bool reported_start = false;
    std::int64_t total_steps = 0;
    std::optional<journal::TrainPoint> last_point;
    TrialPulse pulse{0};
    std::optional<Clock::time_point> shorter;  // since when the journal lacks what was read of it before

    std::optional<std::filesystem::path> first_checkpoint;  // the newest one when it started

    double grace_seconds = 0;                // that it may take to stop
    std::optional<Clock::time_point> asked;  // to stop
    StopCause asked_by = StopCause::none;
    std::string waited_for;      // what was last said of it while it is waited for
    std::string killed_because;  // empty: it was not killed
    bool hung = false;

    std::filesystem::path journal() const { return folder / "journal.jsonl"; }
};

// Settings that every start of a run shares.
struct TrialStarter {
    const Spec& spec;
    const DriverOptions& options;
    const RecordedSweep& recorded;
    results_db::Writer& writer;
    Launcher& launcher;
    std::string driver_uid;
    std::int64_t attempts_begun = 0;
    double flops_per_second = 0;  // of a trial, as measured; 0: unknown

    // For that work at the trial; 0: unknown.
    double projected_seconds(const Trial& trial, results_db::Work work) const {
        const bool is_known = work == results_db::Work::train && flops_per_second > 0;
        return is_known ? trial.projection.flops / flops_per_second : 0;
    }
};

// Begins the next attempt of the trial at that place, in the database and by the launcher, in a run folder of its own.
// Errors: io, where no such program can be started; that ends the sweep, since no other trial would start either.
Child start_trial(TrialStarter& starter, const std::vector<Trial>& trials, std::size_t trial, std::size_t slot,
                  const Assignment& assignment);

// The same for an attempt of an earlier driver, whose trial that is.
Child adopted_child(const AdoptedAttempt& adopted, const Trial& trial, std::size_t slot, const DriverOptions& options);

void ask_to_stop(std::vector<Child>& running, StopCause cause, Launcher& launcher);
// Kills what was asked to stop and has not within its grace, or does not answer; all of it where the user does not want
// to wait any more.
void kill_overdue(std::vector<Child>& running, bool is_impatient, Launcher& launcher, Progress& progress);
// Kills what broke a promise by that many seconds; one that has not begun has made none. An attempt of a batch system
// whose journal has ended is killed when it breaks its promise to end.
void kill_hung(std::vector<Child>& running, double hang_seconds, Launcher& launcher, Progress& progress);

struct EndedChild {
    Child child;
    ChildEnd end;
    Clock::time_point seen = Clock::now();
};
// Takes those that have ended out of the running ones.
std::vector<EndedChild> take_ended(std::vector<Child>& running, Launcher& launcher);

}  // namespace deft::sweeps
