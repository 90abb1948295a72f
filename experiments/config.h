#pragma once
// What one trial is: a typed, strict configuration, its hashes and what it will cost.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/config.h"
#include "base/json_fwd.h"
#include "experiments/growth.h"

namespace deft::experiments {

struct ModelConfig {
    std::string kind = "gpt";
    std::int64_t layers = 4;
    std::int64_t width = 64;
    std::int64_t heads = 2;
    std::int64_t seqlen = 64;  // full sequence length, and the number of learned positions
    double init_std = 0.02;
};

// How BERT's samples are cut from text and masked: [data.bert].
struct BertSamplesConfig {
    std::string sentences = "punctuation";  // where one ends: punctuation | lines
    bool lower_case = true;                 // an uncased vocabulary: text loses case and accents
    bool pairs = true;                      // [CLS] A [SEP] B [SEP]; else [CLS] A [SEP]
    double short_probability = 0.1;         // that a sample is drawn short
    double mask_fraction = 0.15;            // of the tokens; analysis measures what is not masked
    bool whole_words = false;               // masked together
    std::int64_t seed = 1;                  // of what is short, where segments part and what is masked

    bool operator==(const BertSamplesConfig&) const = default;
};

// The entry of experiments/datasets.toml that data.tokenizer may name.
inline constexpr const char* kBertVocabulary = "bert-base-uncased";

struct DataConfig {
    std::string corpus = "embedded";       // embedded | text | indexed | a name of experiments/datasets.toml
    // text: one document a .txt file, one a line of .jsonl files (key "text"), each also .gz or .zst; indexed: one prefix
    // of a Megatron dataset. Relative to DEFT_DATA_MIRROR or to the sweep file.
    std::vector<std::string> train_files;
    std::vector<std::string> valid_files;  // none: the documents are split
    // Shares of the documents in their order: train, validation, held back. At least one document for each of the first
    // two.
    std::vector<std::int64_t> split = {949, 50, 1};
    std::int64_t max_bytes = 0;            // of text: documents are taken until they hold as much; 0: all
    // packed: documents end to end, in samples of equal length | bert: runs of sentences of one document, padded
    std::string samples = "packed";
    BertSamplesConfig bert;
    // bytes | gpt2 | bpe | a folder with vocab.json and merges.txt; of bert samples: bert-base-uncased | a folder with
    // vocab.txt | a .txt file
    std::string tokenizer = "bytes";
    std::int64_t vocab = 0;                // bpe: entries to train; otherwise filled by resolve_data()
    std::int64_t embedded_seed = 1;
    std::int64_t embedded_bytes = 1'000'000;
    bool shuffled_facts = false;  // the control: facts that cannot be learnt
    std::string sha256;           // filled by resolve_data(): of everything that decides the tokens
};

struct TrainConfig {
    std::int64_t batch_size = 8;        // samples an optimizer step
    std::int64_t micro_batch_size = 0;  // 0: batch_size
    std::int64_t budget_tokens = 0;     // layer-averaged; the baseline's at 100%
    double budget_fraction = 1.0;
    double learning_rate = 1e-3;
    std::string learning_rate_by_budget = "same";  // same | inverse: divided by budget_fraction, as the papers do
    double min_learning_rate = 0;
    std::string decay = "cosine";    // cosine | linear | constant, by layer-averaged tokens
    std::int64_t warmup_tokens = 0;  // layer-averaged
    std::int64_t decay_tokens = 0;   // 0: the budget
    double weight_decay = 0.1;
    double beta1 = 0.9;
    double beta2 = 0.95;
    double eps = 1e-8;
    double max_grad_norm = 1.0;  // 0: no clip
    std::string dtype = "f32";   // f32 | bf16: of activations; weights, gradients and moments stay f32. bf16: GPU only
};

// One difficulty metric and how it grows: [curriculum.METRIC].
struct CurriculumMetric {
    // seqtru: samples are cut to a length | seqres: they are laid end to end and cut into rows of a length |
    // voc, voc_per_token: rare words later | any other name, with a column: what is difficult by it, later;
    // of BERT's samples: seqreo: long samples later | seqreo_voc: long samples later, of a length those of rare words
    std::string metric;
    std::string difficulty = "percentile";  // 1 to 100 | value; of a length: value
    Growth growth;  // defaults: of a length 8 to seqlen in steps of 8; of a percentile 1 to 100; `difficulty_step`
    std::string column;         // .npy, .csv or an index's .json: one value a sample; not part of the hash
    std::string column_sha256;  // filled by resolve_data()
};

// Whether it says which samples come later, not how long they are.
bool orders_samples(const CurriculumMetric& metric);
// The analyzer's name of a metric that orders samples without a column.
std::string analysed_metric(const CurriculumMetric& metric);

struct CurriculumConfig {
    std::vector<CurriculumMetric> metrics;  // sorted by name, one of each

    const CurriculumMetric* find(const std::string& metric) const;
};

// Kept tokens of the layers that take only some: [random_ltd], [token_bypass].
struct RoutingConfig {
    Growth growth{16, 0, 8};           // tokens, to seqlen
    std::vector<std::int64_t> layers;  // ascending from 0; in TOML also "1-22"; default: all but the first and last, of
                                       // token_bypass the middle half
    std::int64_t keep_first = 0;       // positions kept always
};

struct TokenBypassConfig {
    RoutingConfig routing;
    double decay = 0.995;                      // of the average of an entry's losses, a step
    std::vector<std::int64_t> special_tokens;  // ids that are kept always
};

// Samples of a step, growing to train.batch_size: [batch_ramp].
struct BatchRampConfig {
    Growth growth{1, 0, 1};
};

// As many samples a step as have max_tokens tokens at its length: [variable_batch].
struct VariableBatchConfig {
    std::int64_t max_tokens = 0;  // default: train.batch_size x model.seqlen
    std::int64_t min_batch_size = 1;
    std::int64_t max_batch_size = 0;                 // 0: no bound
    std::string learning_rate_scaling = "linear";    // by samples / train.batch_size: linear | sqrt | none
};

struct EvalConfig {
    std::int64_t validation_tokens = 65536;  // at most
    std::vector<std::string> tasks;          // names in experiments/tasks, or task files beside the sweep file
    std::int64_t documents = 200;            // of each task, the first ones of its order; 0: all
    std::vector<std::string> task_sha256;    // filled by resolve_data(), one a task
};

// What is kept to go on from; not part of the hash.
struct CheckpointConfig {
    // Of training, and longer where saving would take more than a tenth of the time; 0: only when asked to stop, and at
    // the end.
    double every_seconds = 120;
    std::int64_t keep = 2;       // newest ones
    double grace_seconds = 120;  // that a trial which is asked to stop has for its step and its checkpoint
};

struct TrialConfig {
    std::int64_t seed = 0;
    ModelConfig model;
    DataConfig data;
    TrainConfig train;
    std::optional<CurriculumConfig> curriculum;
    std::optional<RoutingConfig> random_ltd;
    std::optional<TokenBypassConfig> token_bypass;  // or random_ltd
    std::optional<BatchRampConfig> batch_ramp;
    std::optional<VariableBatchConfig> variable_batch;  // or batch_ramp
    EvalConfig eval;
    CheckpointConfig checkpoint;
    std::int64_t log_every = 10;  // steps; not part of the hash
    std::string base_folder;      // where relative files start; not part of the hash
};

// Tables: [model] [data] [data.bert] [train] [curriculum.METRIC] [random_ltd] [token_bypass] [batch_ramp]
// [variable_batch] [eval] [checkpoint], and log_every. A technique's table with enabled = false is absent. Errors:
// config with the place: unknown keys (did-you-mean), wrong types, values that make no sense together, a budget smaller
// than one step.
TrialConfig parse_trial_config(const ConfigNode& root, std::int64_t seed, const std::filesystem::path& base_folder);

// Whether a model trains on the trial's samples: on BERT's none does yet.
bool has_model(const TrialConfig& config);
// Errors: config, saying what can be done instead, unless has_model().
void require_model(const TrialConfig& config);

// Layer-averaged tokens at which this trial stops: budget_tokens x budget_fraction, rounded.
std::int64_t budget_layer_tokens(const TrainConfig& train);

// Finds the corpus, its tokenizer and the tasks' records, and fills data.sha256, data.vocab and eval.task_sha256. Reads
// all of their files once. Errors: io or config, naming the file and how to supply it.
void resolve_data(TrialConfig& config);

// For planning without the data: where it is missing, data.sha256 becomes kDataMissing and what can be known without it
// is filled in; likewise the hash of a column. Errors: as above for all else.
inline constexpr const char* kDataMissing = "missing";
void resolve_data_if_present(TrialConfig& config);

// All fields that decide the result, defaults expanded. The inverse takes what this wrote.
Json to_json(const TrialConfig& config);
TrialConfig from_json(const Json& json);

// sha256 of the canonical JSON with the seed, and without it. Needs resolve_data().
std::string config_hash(const TrialConfig& config);
std::string variant_hash(const TrialConfig& config);

}  // namespace deft::experiments
