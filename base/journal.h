#pragma once
// The journal: what one trial measured, one JSON object a line, appended to <run folder>/journal.jsonl.
// The trial writes it; the sweep driver alone ingests it into the database.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/json_fwd.h"

namespace deft {
struct Field;
}

namespace deft::journal {

// The trial has begun: provenance of the data; code and host come with the driver's trial.json.
struct Started {
    std::int64_t time_ms = 0;
    std::int64_t pid = 0;
    std::string dataset_name;
    std::string dataset_sha256;
    std::int64_t dataset_bytes = 0;
    std::int64_t dataset_tokens = 0;
    std::int64_t total_steps = 0;
    std::int64_t parameters = 0;
    std::string config_hash;
    std::int64_t resume_step = 0;  // of the checkpoint that it went on from; 0: from the start
    std::string note;              // what a reader of the log must know, as a damaged checkpoint that was passed over
    double resume_seconds = 0;     // of training before that checkpoint
    std::string start_note = {};   // what [start] did not simply copy, as reinitialized weights; empty: nothing
    std::int64_t active_parameters = 0;  // that one token meets, in a model with experts; 0: all of them
    double start_seconds = 0;            // since its process began
    std::string recompute = {};          // what the backward pass computes again: none, activation or block
};

// Resources spent by this attempt alone, written after each checkpoint and each completed evaluation of a task.
// Work after the last of these lines is lost if the process is killed.
struct Spent {
    std::int64_t time_ms = 0;
    std::int64_t step = 0;
    double train_seconds = 0, eval_seconds = 0, waited_seconds = 0;
};

// One optimizer step. The four counts are totals up to and including this step.
struct TrainPoint {
    std::int64_t step = 0;           // from 1
    std::int64_t input_tokens = 0;   // repeats counted
    std::int64_t unique_tokens = 0;  // distinct corpus tokens
    std::int64_t layer_tokens = 0;   // layer-averaged: what the papers call consumed tokens
    double flops = 0;                // of the tokens really processed
    std::int64_t wall_ms = 0;        // training clock, evaluation excluded
    double loss = 0;                 // nats a token; NaN and infinity travel as strings
    double lr = 0;
    double grad_norm = 0;
    double tokens_per_second = 0;
    std::int64_t seqlen = 0;
    std::int64_t kept_tokens = 0;
    // Payload that the ranks sent each other in this step, all of them together; of it rows that went to experts of
    // other ranks and came back, forward and backward. 0 on one rank.
    std::int64_t sent_bytes = 0, expert_bytes = 0;
    // For models with several heads or with experts: the loss of each, which sum to `loss`; else empty.
    std::vector<std::string> head_names = {};
    std::vector<double> head_losses = {};
};

// Among the names of heads: what experts and their gates are kept even by.
inline constexpr const char* kExpertBalance = "expert balance";
inline constexpr const char* kGateZ = "gate z";

// Totals of the samples drawn from the training data, up to and including a step.
struct Sampling {
    std::int64_t step = 0;
    std::int64_t pool = 0;  // samples that are admitted at this step
    std::int64_t samples_drawn = 0;
    std::int64_t samples_repeated = 0;  // of these, how many had been drawn before
    std::int64_t tokens_cut = 0;        // of the drawn samples, left out by truncation
    std::int64_t tokens_padded = 0;     // processed, but padding
    // Draws a sample, of each tenth of the samples in the order in which a curriculum admits them, the first first.
    std::vector<double> epochs;
};

// Statistics of one layer of experts in an optimizer step, averaged over its micro-batches. Follows the TrainPoint of
// its step, as Sampling does: a run that resumes from before the step discards both.
struct ExpertLoad {
    std::int64_t step = 0;
    std::int64_t layer = 0;    // of the model, from 0
    std::vector<double> load;  // (experts): each one's share of the gate's choices, before any is dropped; sums to 1
    double dropped = 0;        // share of the choices that were beyond the capacity
    double entropy = 0;        // of the gate's probabilities, nats, mean over rows
    double balance_loss = 0;
    double z_loss = 0;
};

// One score of one task.
struct Evaluation {
    std::int64_t step = 0;
    std::string task;  // "validation", "embedded_questions"
    std::string task_version;
    std::string split;
    std::int64_t shots = 0;
    std::string metric;  // "loss", "bits_per_byte", "acc"
    std::string unit;    // "nats/token", "bits/byte", ""
    std::string better;  // lower | higher | none
    double value = 0;
    std::int64_t n = 0;          // documents or items
    double standard_error = 0;   // NaN: unknown
    double chance = 0;           // score of guessing; NaN: none
    std::string score_key = {};  // base/score_key.h; empty in journals of an older deft
};

// The evaluation of a task is complete: its Evaluations precede this line.
struct Scored {
    std::string score_key;
    std::string task;
    std::string task_sha256;
    std::int64_t shots = 0;
    std::int64_t documents = 0;  // as asked for; 0: all
    std::int64_t step = 0;       // of the checkpoint
    std::string model_sha256;
    double seconds = 0;
    double cut_share = 0;                // of the prompts, those that lost their front to the model's length
    double mean_shots = 0;               // that were left of a prompt's, on average
    std::string items = {};              // a line a document, experiments/evaluation/items.h; empty: none kept
    std::string definition_sha256 = {};  // of the task's file alone; empty in journals of an older deft
    std::int64_t scoring_version = 1;    // kScoringVersion of base/score_key.h
};

// A file that the trial left.
struct Artifact {
    std::string kind;  // checkpoint | log | config | plot | profile | eval_items | report | other
    std::string path;  // relative to the run folder
    std::string sha256;
    std::int64_t bytes = 0;
    std::string role;
    std::int64_t step = -1;
};

// The next line will come within that time; longer before something slow.
struct Lease {
    std::int64_t time_ms = 0;
    std::int64_t until_ms = 0;
    std::string doing;  // "training", "saving a checkpoint"; empty in journals of an older deft
};

// The trial is over.
struct Ended {
    std::int64_t time_ms = 0;
    std::string state;       // ok | failed | stopped (with a checkpoint to go on from)
    std::string fail_class;  // config | nan | oom_host | io | crash | timeout | user | other; empty when ok
    std::string error;
    double train_seconds =
        0;  // of training since the first step, before a checkpoint too; work lost to kills is not in it
    double step_seconds = 0;  // of this attempt's optimizer steps alone; 0: not counted
    double eval_seconds = 0;
    double flops = 0;  // of all training, as train_seconds
    std::int64_t threads = 0;
    std::int64_t peak_rss_bytes = 0;
    double cpu_seconds = 0;
    double waited_seconds = -1;  // for a lock of another process, or at the start for other ranks; -1: not measured
};

// Definition of each record type: its keys, and the columns where the database has one for each.
template <class Record>
const std::vector<Field>& fields();

// One line: {"type": "...", fields by the names above}.
template <class Record>
Json to_json(const Record& record);

// "train" of {"type": "train", ...}; empty where there is none.
std::string type_of(const Json& line);

// Errors: io, for a line of another type or with a field missing.
template <class Record>
void from_json(const Json& line, Record& record);

// Appends complete lines. A write that fails part-way (full disk) is truncated to the last complete line.
class Writer {
 public:
    // To nowhere: what is written is dropped.
    Writer() = default;
    // Errors: io.
    explicit Writer(const std::filesystem::path& file);
    ~Writer();
    Writer(Writer&& other) noexcept;
    Writer& operator=(Writer&& other) noexcept;

    template <class Record>
    void write(const Record& record);  // any of the records above
    // Waits until what was written is on the disk.
    void sync();
    // Called before each line from now on. Where it throws, the line is not written.
    void set_guard(std::function<void()> guard) { guard_ = std::move(guard); }

 private:
    void write_line(const std::string& line);
    std::string path_;
    int file_ = -1;
    std::function<void()> guard_;
};

}  // namespace deft::journal
