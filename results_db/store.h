#pragma once
// The results database as its one writer sees it, and what readers get out of it. Rows are plain values; no SQL leaves
// this folder. Schema: results_db/schema_v1.cpp and the steps after it.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/journal.h"
#include "results_db/bench_rows.h"
#include "results_db/cost_parts.h"
#include "results_db/evidence/evidence.h"
#include "results_db/gate_rows.h"
#include "results_db/imported_model.h"

namespace deft::results_db {

// A journal that no trial of ours can have written, as opposed to a database that cannot take it. Its kind is io.
class JournalError : public Error {
 public:
    using Error::Error;
};

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

struct Sweep {
    std::string name;
    std::string spec_sha256;            // of the resolved spec
    std::string spec_toml;              // the text of the file as it was
    std::string overrides_json = "[]";  // [{"path", "value"}], as --set gave them
    std::string title = {};
    std::string scale = {};     // empty: the file as written
    std::string baseline = {};  // the recipe that others are compared with
    std::string command = {};   // that trains what is left
    std::string points = {};    // file and options of `deft run`, without --only and --root
    std::string paper = {};     // the published table to compare with; empty: none
    std::string claims_json =
        {};  // of that table (results_db/schema_v13.cpp); kept as they were when the sweep first ran
};

// One training: what decides the weights, with its seed. Immutable.
struct Trial {
    std::string config_hash;
    std::string variant_hash;
    std::int64_t seed = 0;
    std::string config_json;
    std::string label;
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

struct NewAttempt {
    std::string uid;
    std::int64_t number = 1;  // from 1 within the trial
    std::string worker;       // driver uid and slot
    std::string slots_json = "{}";
    std::string argv_json = "[]";
    std::string workdir;  // the run folder, relative to the root
    Shape shape = {};
    std::optional<Price> price = {};
    std::string libraries_json = "{}";  // {"oneDNN": "2.6.3"}: as loaded
    std::string machine_json = "{}";    // of results_db/host_key.h
    Work work = Work::train;
};

struct ProcessIdentity {  // distinguishes a process from a later one with the same pid
    std::int64_t pid = 0;
    std::int64_t start_ticks = 0;
    std::string boot_id;
};

// How an attempt ended, as the driver saw it.
struct Outcome {
    std::string state;       // ok | failed | timeout | preempted | stale | cancelled
    std::string fail_class;  // as in the schema; empty when ok
    std::optional<std::int64_t> exit_code;
    std::optional<std::int64_t> term_signal;
    std::string error;
    std::int64_t peak_rss_bytes = 0;
    double cpu_seconds = 0;
    std::optional<double> own_seconds = {};  // of training that the attempt ran itself, not those before its checkpoint
    std::int64_t ended_ms = 0;               // 0: now
    std::optional<double> held_seconds = {};  // of its slot, from its start to its end; nothing: nobody saw them
};

struct LiveAttempt {
    std::int64_t id = 0;
    std::int64_t trial_id = 0;
    std::string config_hash;
    std::string workdir;
    ProcessIdentity process;
};

// Newest values from the lines of a journal; empty where no line has them.
struct IngestResult {
    std::optional<journal::TrainPoint> last_point;
    std::optional<journal::Started> started;
    std::optional<journal::Ended> ended;
    std::optional<journal::Lease> lease;
    std::int64_t lines = 0;
};

// A checkpoint that an attempt left.
struct Checkpoint {
    std::string config_hash, path, sha256;
    std::int64_t step = -1, bytes = 0;
    std::string role = {};  // "final"; "best", of the weights that validated best
};

// The one writer: opens or creates <file>, holds <file>.lock, migrates forward.
// Errors: database (locked by another driver, with its pid; foreign file; corrupt; newer schema), io (read-only, full
// disk).
class Writer {
 public:
    explicit Writer(const std::filesystem::path& file);
    ~Writer();
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    // Each returns the id of the row with that content, added where new.
    std::int64_t add_code(const Code&);
    std::int64_t add_host(const Host&);
    // Adding a spec again makes it the newest of its name, the one that readers show.
    std::int64_t add_sweep(const Sweep&);
    std::int64_t add_trial(const Trial&);  // Errors: database, where the row was changed since.
    // A hash that an older program gave the same training.
    void add_former_hash(std::int64_t trial_id, const std::string& config_hash);
    void add_place(std::int64_t sweep_id, std::int64_t trial_id, const TrialPlace&);
    // Gives the price to those attempts of the sweep's trials that began when it stated none.
    void price_unpriced(std::int64_t sweep_id, const Price&);

    // True when an attempt at its training ended ok.
    bool is_trained(std::int64_t trial_id) const;
    // That of the newest attempt which trained to the end; nothing where none left one.
    std::optional<Checkpoint> result_checkpoint(std::int64_t trial_id) const;
    // The subset of the keys (base/score_key.h) that its trained model was not scored by, in their order.
    std::vector<std::string> unscored(std::int64_t trial_id, const std::vector<std::string>& keys) const;
    // Whether an attempt at its training validated the model on the way.
    bool was_validated(std::int64_t trial_id) const;
    // How many attempts at its training there were.
    std::int64_t trainings(std::int64_t trial_id) const;
    // The last step of its curve, as the journals that were taken in have it; 0 where they have none.
    std::int64_t last_step(std::int64_t trial_id) const;
    // Its hash, and those that older programs gave it: what its checkpoints may be named by.
    std::vector<std::string> config_hashes(std::int64_t trial_id) const;
    // Errors: missing.
    std::int64_t trial_of(const std::string& config_hash) const;
    bool has_attempt(const std::string& uid) const;
    std::int64_t next_attempt_number(std::int64_t trial_id) const;

    std::int64_t begin_attempt(std::int64_t trial_id, std::int64_t code_id, std::int64_t host_id, const NewAttempt&);
    void set_running(std::int64_t attempt_id, const ProcessIdentity&, std::int64_t started_ms);
    // Reads whole new lines of the journal and stores their rows and the new byte offset in one transaction.
    // A torn last line is left for later. Damaged lines are passed over: the others are stored, and then a JournalError
    // names the first one and says how many there were. A journal of another trial, or one shorter than what was read
    // of it before, is a JournalError too, and nothing of this call is stored.
    IngestResult ingest(std::int64_t attempt_id, const std::filesystem::path& journal);
    // On the disk when it returns: what has ended is never done again, even after a power cut.
    void end_attempt(std::int64_t attempt_id, const Outcome&);

    // Attempts still marked leased or running: what a killed driver left.
    std::vector<LiveAttempt> live_attempts() const;

    // All of its results, or none; false where a session of its uid is there already.
    bool add_bench_session(const BenchSession&);

    // All rows of one new baseline, or none. Errors: usage, where a live baseline has that name.
    void pin_baseline(const std::vector<BaselineRow>& rows);
    // How many rows it had. Errors: usage, with the nearest live name; missing, without any.
    std::int64_t retire_baseline(const std::string& name);
    void add_verdicts(const std::vector<VerdictRow>& rows);

    // As merge_evidence().
    std::vector<Merged> merge(const std::vector<NamedEvidence>& texts, const std::string& run_suffix = {});

 private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// ---- what readers get --------------------------------------------------------------------------------------------

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
struct AttemptRow {
    std::int64_t number = 0;
    std::string uid, state, fail_class, error, workdir;
    std::int64_t created_ms = 0, started_ms = 0, ended_ms = 0;  // 0: not yet
    std::int64_t resume_step = 0;
    Shape shape;
    std::optional<double> own_seconds, device_seconds, usd;
    std::optional<double> held_seconds;      // of its slot; nothing: nobody saw its end
    std::optional<double> waited_seconds;    // of these; nothing: a program of before did not measure it
    std::optional<double> cpu_seconds = {};  // of its processes, on all their threads
    std::optional<CostParts> seconds = {};   // what they went into; nothing while it runs
    std::optional<Price> price;
    std::string libraries_json = "{}";
    std::string start_note = {};  // what [start] did not simply copy
    bool counts = false;  // the result was built on it: it is the result, or steps of it are in the result's curve
    Code code = {};       // commit, changes and program alone
    Host host = {};       // name, processor and cores alone
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
};

// A sweep as it was run: one name may cover several, which --set, --scale or an edited file separate.
struct SweepHead {
    std::int64_t id = 0;
    std::string name, spec_sha256;
    std::int64_t created_ms = 0;
    std::string overrides_json = "[]";
    std::string title, scale, baseline, command, points, paper;  // as in Sweep; a scale may be "unknown"
    std::string claims_json = {};                                // when it first ran, at created_ms; empty: unknown
};

// As stored. Reports read reporting::Results, which also say what is stale and what was searched.
struct StoredSweep : SweepHead {
    std::vector<StoredTrial> trials = {};  // by ordinal
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

// Read-only; several may be open while the writer works.
// Errors: missing (no such file, no sweep), database (foreign, corrupt, too new; a trial whose row was changed).
class Reader {
 public:
    explicit Reader(const std::filesystem::path& file);
    // A database in memory with the content of these texts. Errors: those of merge_evidence().
    explicit Reader(const std::vector<NamedEvidence>& texts);
    ~Reader();
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    std::vector<SweepHead> sweeps() const;                // newest first
    std::vector<std::string> sweep_names() const;         // each once, newest first
    std::string spec_text(const SweepHead& sweep) const;  // of its file as it was
    // "NAME", the newest spec of that name, or "NAME@HASH", of which the hash may be cut short. Errors: usage,
    // for an unknown or ambiguous name; missing, without any sweep.
    StoredSweep sweep(const std::string& selector) const;
    // Finds by a prefix of the config hash, also an older program's, or by name within the newest sweep: "baseline/1",
    // "baseline[budget_fraction=0.5]/1", where axes and seed may be omitted. Errors: usage, for
    // an unknown or ambiguous name.
    StoredTrial trial(const std::string& selector) const;
    // The training curve of a trial, through all attempts that went on from one another's checkpoints.
    std::vector<journal::TrainPoint> curve(const std::string& config_hash) const;
    // Values of every trial of the sweep, by config hash, in one query each. Trials without any are absent.
    std::map<std::string, TrialCurve> curves(const SweepHead& sweep) const;
    // Statistics of a trial's expert layers, as its training curve: by step and layer. Empty without experts.
    std::vector<journal::ExpertLoad> expert_loads(const std::string& config_hash) const;
    std::vector<Checkpoint> checkpoints(const SweepHead& sweep) const;  // by config hash and step
    // Its hash, and those that older programs gave it: what its checkpoints may be named by.
    std::vector<std::string> config_hashes(const std::string& config_hash) const;
    // The subset of the keys that this training's model was not scored by; all where it is not known.
    std::vector<std::string> unscored(const std::string& config_hash, const std::vector<std::string>& keys) const;
    // The results of a scored task, one document after another, as they were stored; empty: none were. The newest of
    // that task and number of shots.
    std::string items(const std::string& config_hash, const std::string& task, std::int64_t shots) const;
    // The evaluation whose row has that key; the newest such.
    std::string items_of_score(const std::string& config_hash, const ScoreRow& row) const;
    std::vector<BenchRow> benches() const;               // by case and time
    std::vector<BenchHistoryRow> bench_history() const;  // by series and time
    std::vector<BaselineRow> baselines() const;          // by name and time
    std::vector<VerdictRow> verdicts() const;            // in the order given
    // As export_evidence().
    Evidence evidence(const std::string& selector, std::size_t most_bytes = kMostEvidenceBytes) const;
    // As export_parts().
    std::vector<Evidence> evidence_parts(const std::string& selector, std::size_t count,
                                         std::size_t most_bytes = kMostEvidenceBytes) const;

 private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace deft::results_db
