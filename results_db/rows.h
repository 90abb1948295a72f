#pragma once
// Rows of the results database, as plain values.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/journal.h"
#include "base/json_fwd.h"
#include "results_db/cost_parts.h"
#include "results_db/imported_model.h"

namespace deft::results_db {

// The program that produced a number. Fingerprint: sha256 of git sha, diff hash and binary hash.
struct Code {
    std::string git_sha;  // "unknown" outside a checkout
    std::string git_branch;
    bool dirty = false;
    std::string diff_sha256;  // of `git diff HEAD` and the untracked files' hashes; empty when clean
    std::string diff;         // the text, stored compressed
    std::string binary_sha256;
    std::string compiler;
    std::string cxx_flags;
    std::string build_type;
};

// One row represents all machines of one speed, as results_db/host_key.h defines.
struct Host {
    std::string hostname;
    std::string arch;
    std::string cpu_model;
    std::int64_t cores = 0;
    std::int64_t threads = 0;
    std::int64_t mem_bytes = 0;
    std::string kernel;
    std::string os;
    std::string extra_json = "{}";  // ISA, libraries
};

// The data set that an attempt trained on.
struct Dataset {
    std::string sha256, name;
    std::optional<std::int64_t> bytes = {}, tokens = {};
};

struct Sweep {
    std::string name;
    std::string spec_sha256;            // of the resolved spec
    std::string spec_toml;              // the text of the file as it was
    std::string overrides_json = "[]";  // [{"path", "value"}], as --set gave them
    std::string title = {};
    std::string scale = {};        // empty: the file as written; "unknown" where an older program stored it
    std::string baseline = {};     // the recipe that others are compared with
    std::string command = {};      // that trains what is left
    std::string points = {};       // file and options of `deft run`, without --only and --root
    std::string paper = {};        // the published table to compare with; empty: none
    std::string claims_json = {};  // of that table (results_db/schema.cpp), when the sweep first ran; empty: unknown
    std::int64_t created_ms = 0;   // when it first ran; 0: now
};

// One training: what decides the weights, with its seed. Immutable.
struct Trial {
    std::string config_hash;
    std::string variant_hash;
    std::int64_t seed = 0;
    std::string config_json;
    std::string label;
    std::int64_t created_ms = 0;  // 0: now
};

// The stage of the trials that search the learning rate.
inline constexpr const char* kSearchStage = "search";

// The place of a trial in a sweep.
struct TrialPlace {
    std::int64_t ordinal = 0;
    std::string recipe;                          // "baseline"
    std::string axes_json = "{}";                // {"train.budget_fraction": 0.5}
    std::string scores_json = "[]";              // [{"task", "shots", "key"}]: what is asked of the trained model
    std::string stage = {};                      // of a sweep that has stages
    std::string seeds = {};                      // "1.3", as in trial_name.h; empty: the trial's
    std::optional<ImportedModel> imported = {};  // nothing: it is trained
};

struct PlacedTrial {
    Trial trial;
    TrialPlace place;
};

// The price of one device per hour on a day.
struct Price {
    std::string sku;
    std::int64_t date_ms = 0;
    double usd_per_hour = 0;
    std::string source;
    bool operator==(const Price&) const = default;
};

// The part of a machine that an attempt holds while it runs.
struct Shape {
    std::string device = "cpu";  // cpu | cuda
    std::int64_t devices = 1;    // threads of a CPU, or GPUs; of all ranks
    std::int64_t trials_per_device = 1;
    std::int64_t ranks = 1;  // processes that work together
};

// The activity of an attempt: training, or evaluation of a trained model.
enum class Work { train, score };

// An attempt as it begins.
struct NewAttempt {
    std::string uid;
    std::int64_t number = 1;  // from 1 within the trial
    Work work = Work::train;
    std::string worker;  // driver uid and slot
    std::string slots_json = "{}";
    std::string argv_json = "[]";
    std::string workdir;  // the run folder, relative to the root
    Shape shape = {};
    std::optional<Price> price = {};
    std::string libraries_json = "{}";         // {"oneDNN": "2.6.3"}: as loaded
    std::string machine_json = "{}";           // of results_db/host_key.h
    std::string launcher = "local";            // that starts it
    std::string job = {}, nodes = {};          // of a batch system; known once it runs
    std::optional<double> queue_seconds = {};  // from its submission to its start
};

// A checkpoint that an attempt left.
struct Checkpoint {
    std::string config_hash, path, sha256;
    std::int64_t step = -1, bytes = 0;
    std::string role = {};  // "final"; "best", of the weights that validated best
};

struct ScoreRow {
    std::string task, measure, unit, better, split;  // measure: what was scored, as in "acc"
    double value = 0;
    std::int64_t n = 0;
    double chance = 0;  // NaN: none
    std::int64_t shots = 0;
    std::int64_t step = -1;     // the newest step at which the task was scored
    double standard_error = 0;  // NaN: unknown
    // For the evaluation; empty or 0 where an older program did it together with the training.
    std::string score_key = {}, model_sha256 = {}, git_sha = {}, attempt_uid = {};
    double cut_share = 0;   // of the prompts, those that lost their front to the model's length
    double mean_shots = 0;  // that were left of a prompt's, on average
    std::string task_version = {};
    // Identity of the scored records; empty or 0 where an older program did not record it.
    std::string task_sha256 = {}, definition_sha256 = {};
    std::int64_t scoring_version = 0;
};

// One task that a trained model is to be scored by.
struct AskedScore {
    std::string task;
    std::int64_t shots = 0;
    std::string key;
    bool is_scored = false;
};

// One attempt at a trial: when, on what, and what it used.
struct AttemptRow : NewAttempt {
    std::string state, fail_class, error;
    std::int64_t created_ms = 0, started_ms = 0, ended_ms = 0;  // 0: not yet
    std::optional<std::int64_t> exit_code, term_signal;
    std::int64_t resume_step = 0;
    std::int64_t total_steps = 0, parameters = 0, threads = 0, peak_rss_bytes = 0;
    std::int64_t active_parameters = 0;               // that one token meets; 0: all
    std::optional<double> train_seconds;              // since the trial's first step; nothing: its end is not recorded
    std::optional<double> eval_seconds, cpu_seconds;  // of its processes, on all their threads
    std::optional<double> own_seconds;                // of training that it ran itself
    std::optional<double> held_seconds;               // of its slot; nothing: nobody saw its end
    std::optional<double>
        waited_seconds;           // the part of these spent waiting; nothing: an older program did not measure it
    std::string epochs_json;      // as TrialCurve::epochs; empty: none
    std::string start_note = {};  // the part that [start] did not simply copy

    std::optional<double> device_seconds, usd;
    std::optional<CostParts> seconds = {};  // their use; nothing while it runs
    bool counts = false;  // the result was built on it: it is the result, or steps of it are in the result's curve
    Code code = {};       // without the diff's text
    Host host = {};
    Dataset dataset = {};
    std::string gpu_name = {};  // empty: of a CPU, or unknown

    // Device-seconds of a second on its slot, and what a device-second cost.
    double devices() const { return static_cast<double>(shape.devices) / static_cast<double>(shape.trials_per_device); }
    double usd_per_second() const { return price ? price->usd_per_hour / 3600 : 0; }
};

// The newest attempt at one training that ended ok, or the newest of any state.
struct TrialRow {
    std::string stage;                      // empty: of a sweep without stages
    std::string seeds;                      // "1.3", as in trial_name.h; empty: `seed`
    std::optional<ImportedModel> imported;  // its model, which no step trained here
    std::string recipe;
    std::string axes_json;
    std::int64_t ordinal = 0;
    std::int64_t seed = 0;
    std::string config_hash, variant_hash, label, config_json;
    std::string state;  // pending | leased | running | ok | failed | ...
    std::int64_t attempts = 0;
    std::string attempt_uid;  // of the one shown; empty: none
    std::string fail_class, error, workdir;
    std::int64_t started_ms = 0, ended_ms = 0;
    std::optional<journal::TrainPoint> last_point;  // of its curve
    double train_seconds = 0;
    // Cost of the training that the result was built on, over its attempts, each at its own shape and price. Work lost
    // to kills is not in it: a failing machine does not make a recipe dearer.
    double device_seconds = 0;
    std::optional<double> usd;  // nothing where one of them has no price; neither is of an imported model
    // Cost of all attempts that have ended, training and evaluation: device-seconds, and USD where all have a price.
    CostParts parts = {};
    std::optional<CostParts> usd_parts = {};
    std::int64_t unseen_ends = 0;          // of these attempts: nobody saw how long they held their slots
    std::int64_t unmeasured_waits = 0;     // of these: their waiting time counts as start-up
    std::vector<AttemptRow> attempt_rows;  // all that trained, by number
    std::vector<AttemptRow> scoring_rows;  // all that scored, by number
    std::optional<Checkpoint> result;      // what is scored
    std::vector<AskedScore> asked;         // in the sweep's order
    Code code;                             // without the diff's text
    Host host;
    std::string dataset_name, dataset_sha256;
    std::int64_t total_steps = 0, parameters = 0;
    std::int64_t active_parameters = 0;  // that one token meets; `parameters` where all do
    std::int64_t peak_rss_bytes = 0;
    double eval_seconds = 0;  // over all scoring
    // Its place in the sweep was given another training since, which has not ended well; the state and the
    // configuration hash of that one. Empty: no.
    std::string newer_state = {}, newer_hash = {};

    // Tasks that were asked for and are not scored.
    std::int64_t unscored() const;
    // Whether what is shown was run elsewhere and merged: its run folder and checkpoints are not below this root.
    bool is_merged() const { return !attempt_uid.empty() && workdir.empty(); }
};

// With what its model was scored by: of each measure the newest score that was asked for, or the newest.
struct StoredTrial : TrialRow {
    std::vector<ScoreRow> scores = {};
    std::shared_ptr<const Json> config = {};  // config_json, parsed
};

// A sweep as it was run: one name may cover several, which --set, --scale or an edited file separate.
struct SweepHead : Sweep {
    std::int64_t id = 0;
    std::string file_sha256;  // of spec_toml
};

// As stored. Reports read reporting::Results, which also say what is stale and what was searched.
struct StoredSweep : SweepHead {
    std::vector<StoredTrial> trials = {};  // by ordinal
};

// The speed at which a sweep's trials that ended well were trained in this root, and the count of merged ones.
struct SweepPace {
    double flops = 0, seconds = 0;
    std::int64_t merged = 0;
};

// Totals of the samples drawn from the training data, up to and including a step.
struct SamplingPoint {
    std::int64_t step = 0, pool = 0, drawn = 0, repeated = 0, cut_tokens = 0, padded_tokens = 0;
};

// The curves of the attempt that a TrialRow shows.
struct TrialCurve {
    std::vector<journal::TrainPoint> points;                         // by step
    std::vector<std::pair<std::int64_t, double>> validation_losses;  // step and nats a token, by step
    std::vector<SamplingPoint> sampling;                             // by step
    std::vector<double> epochs;  // draws a sample, of each tenth of the samples by difficulty, the easiest first
};

}  // namespace deft::results_db
