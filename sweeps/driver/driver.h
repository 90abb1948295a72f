#pragma once
// Runs what a sweep has left to run, in slots, and keeps the database in step.

#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "sweeps/driver/keep_stale.h"
#include "sweeps/driver/launchers.h"
#include "sweeps/driver/progress.h"
#include "sweeps/driver/rank_hosts.h"
#include "sweeps/driver/root.h"
#include "sweeps/driver/slots.h"
#include "sweeps/driver/trial_pulse.h"
#include "sweeps/spec/expand.h"
#include "sweeps/spec/spec.h"

namespace deft::sweeps {

struct DriverOptions {
    std::filesystem::path root = kDefaultRoot;
    std::filesystem::path trial_program = "/proc/self/exe";  // started as: program trial RUN_FOLDER
    LauncherChoice launcher = {};
    RankHosts hosts = {};  // that the ranks of each trial span; the local launcher starts them
    std::vector<Slot> slots = {{}};
    std::string slots_note;         // on GPUs that they leave unused; empty: on none
    bool asks_for_mps = false;      // the overview does not suggest --mps then
    int threads = 1;                // of each trial
    std::vector<std::string> only;  // as in spec/select.h; all where empty
    bool fail_fast = false;
    bool retrain = false;   // what is trained and lacks its checkpoint is trained again, to be scored
    RerunIf rerun_if = {};  // which stale results are measured again
    bool dry_run = false;   // say what would run, and write nothing
    double start_seconds = kStartSeconds;
    double hang_seconds = 60;  // by which a trial may break a promise before it has hung
    // For which the rest of a journal is awaited, of a trial that ended or of one whose journal shrank.
    double late_journal_seconds = 60;
    std::string continue_with;  // the command that goes on, for messages
    std::string cancel_with;    // the command that cancels its Slurm jobs, for messages
    std::string fill_with;      // the same for all recipes, for reports
    std::string points;         // of that command the sweep's file and options, for reports
    ProgressMode progress = ProgressMode::automatic;
    std::FILE* narration = stderr;
    std::function<void()> while_running = {};  // called between two looks at the trials; must not throw
};

struct RunSummary {
    int already_done = 0;
    int ok = 0;
    int failed = 0;
    int blocked = 0;  // not started, for what they start from failed
    int left = 0;
    bool is_stopped = false;  // somebody asked it to end, or --fail-fast did: later sweeps do not start
    int exit_code = 0;
};

// Errors: database (another driver, foreign file), io (root not writable, full disk: children are ended first, and what
// they wrote is taken in by the next run).
RunSummary run_sweep(const Spec& spec, const std::vector<Trial>& trials, const DriverOptions& options);

}  // namespace deft::sweeps
