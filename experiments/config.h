#pragma once
// The configuration of one trial, typed and strict, and its hashes. The meaning, unit and range of each key:
// config_fields.cpp, or deft keys.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/config.h"
#include "base/json_fwd.h"
#include "experiments/choices.h"
#include "experiments/growth.h"

namespace deft::experiments {

// Layers whose feed-forward part is several experts: [model.experts].
struct ExpertLayersConfig {
    std::vector<std::int64_t> count;   // of experts, one of each layer below; empty: there are none
    std::vector<std::int64_t> layers;  // ascending, counted from 0
    std::int64_t top = 1;
    double capacity_factor = 1;
    std::int64_t min_capacity = 4;
    bool random_token_selection = true;
    double jitter = 0;
    bool sampled_noise = false;
    double aux_weight = 0.01;
    double z_weight = 0;
    bool residual = false;

    bool operator==(const ExpertLayersConfig&) const = default;
};

// A transformer; its defaults are GPT-2's, and another kind's are in model_kinds.h.
struct ModelConfig {
    std::string kind = "gpt";
    std::int64_t layers = 4;
    std::int64_t width = 64;
    std::int64_t seqlen = 64;
    double init_std = 0.02;
    PositionEncoding positions = PositionEncoding::learned;
    double rope_theta = 10000;
    std::int64_t segments = 0;
    bool input_norm = false;
    kernels::NormKind norm = kernels::NormKind::layer;
    double norm_eps = 1e-5;
    engine::NormPlacement norm_placement = engine::NormPlacement::pre;
    std::int64_t heads = 2;
    std::int64_t kv_heads = 0;  // 0 in a file: heads
    bool causal = true;
    bool attention_bias = true;
    std::int64_t hidden = 0;  // 0 in a file: of the kind
    kernels::Activation activation = kernels::Activation::gelu_tanh;
    bool feed_forward_bias = true;
    bool tied_head = true;
    bool head_bias = false;
    bool head_transform = false;
    bool order_head = false;
    // For images; 0: a model of tokens.
    std::int64_t patch = 0;
    std::int64_t image_height = 0, image_width = 0, image_channels = 0, classes = 0;
    kernels::Pooling pooling = kernels::Pooling::first;
    bool value_head = false;  // of labelled texts whose labels are numbers
    double head_dropout = 0;
    double dropout = 0;
    double attention_dropout = 0;
    double input_dropout = 0;
    ExpertLayersConfig experts = {};
};

// How BERT's samples are cut from text and masked: [data.bert].
struct BertSamplesConfig {
    engine::SentenceRule sentences = engine::SentenceRule::punctuation;
    bool lower_case = true;
    bool pairs = true;
    double short_probability = 0.1;
    double mask_fraction = 0.15;
    bool whole_words = false;
    std::int64_t seed = 1;

    bool operator==(const BertSamplesConfig&) const = default;
};

// How images are divided and shown: [data.images].
struct ImageSamplesConfig {
    std::int64_t test_every = 5;
    std::int64_t crop_padding = 0;
    bool flip = false;
    std::int64_t resize = 0;  // 0: images stay as they are

    bool operator==(const ImageSamplesConfig&) const = default;
};

// How labelled texts are read: [data.labelled].
struct LabelledConfig {
    std::int64_t records = 0;  // the first ones of those to train on; 0: all
    bool lower_case = true;
    bool truncate_labels = false;
    std::int64_t whole_batches = 0;   // records in each batch; 0: the last batch may be smaller
    std::int64_t scored_records = 0;  // the first ones of each split; 0: all

    bool operator==(const LabelledConfig&) const = default;
};

// The entry of experiments/datasets.toml that data.tokenizer may name.
inline constexpr const char* kBertVocabulary = name_of(BuiltInTokenizer::bert_base_uncased);

struct DataConfig {
    std::string corpus = name_of(BuiltInCorpus::embedded);
    std::vector<std::string> train_files;
    std::vector<std::string> valid_files;
    std::vector<std::int64_t> split = {949, 50, 1};  // at least one document for each of the first two
    std::int64_t max_bytes = 0;
    SampleKind samples = SampleKind::packed;
    BertSamplesConfig bert;
    ImageSamplesConfig images;
    LabelledConfig labelled;
    std::string tokenizer = name_of(BuiltInTokenizer::bytes);
    std::int64_t vocab = 0;  // unless it is trained, filled by resolve_data()
    std::int64_t embedded_seed = 1;
    std::int64_t embedded_bytes = 1'000'000;
    bool shuffled_facts = false;
    std::string sha256;              // filled by resolve_data(): of everything that decides the tokens
    std::int64_t epoch_samples = 0;  // likewise: how many labelled texts there are to train on
};

// Nothing for a corpus of the catalogue, and for a tokenizer in files.
std::optional<BuiltInCorpus> built_in_corpus(const DataConfig& data);
std::optional<BuiltInTokenizer> built_in_tokenizer(const DataConfig& data);
// Whether the corpus trains its tokenizer.
bool trains_tokenizer(const DataConfig& data);

struct TrainConfig {
    std::int64_t batch_size = 8;
    std::int64_t micro_batch_size = 0;
    SampleRows rows = SampleRows::packed;
    RecomputeChoice recompute = RecomputeChoice::none;
    std::int64_t zero = 0;          // 0 | 1
    std::int64_t expert_ranks = 1;  // that divide the experts of each layer
    std::int64_t budget_tokens = 0;
    // Set where the records that epochs count are not here. The number of steps is then unknown, and budget_tokens only
    // makes the rest of a step countable.
    double unknown_epochs = 0;
    double budget_fraction = 1.0;
    double learning_rate = 1e-3;
    RateByBudget learning_rate_by_budget = RateByBudget::same;
    double min_learning_rate = 0;
    engine::Decay decay = engine::Decay::cosine;
    double decay_factor = 10;
    std::int64_t decay_stages = 3;
    std::int64_t warmup_tokens = 0;
    std::int64_t warmup_steps = 0;
    double warmup_share = 0;
    std::int64_t decay_tokens = 0;
    engine::OptimizerKind optimizer = engine::OptimizerKind::adamw;
    double momentum = 0.9;
    double weight_decay = 0.1;
    double beta1 = 0.9;
    double beta2 = 0.95;
    double eps = 1e-8;
    double max_grad_norm = 1.0;
    engine::DType moments = engine::DType::f32;
    engine::DType dtype = engine::DType::f32;
};

struct CurriculumEntry;

// One difficulty metric and how it grows: [curriculum.METRIC].
struct CurriculumMetric {
    std::string metric;
    const CurriculumEntry* entry = nullptr;  // of curriculum_entries.h; null: it is a column
    DifficultyUnit difficulty = DifficultyUnit::percentile;
    Growth growth;
    std::string column;
    std::string column_sha256;  // filled by resolve_data()
};

// Whether it says which samples come later, not how long they are.
bool orders_samples(const CurriculumMetric& metric);

struct CurriculumConfig {
    std::vector<CurriculumMetric> metrics;  // sorted by name, one of each

    const CurriculumMetric* find(const std::string& metric) const;
    bool joins_samples() const;
};

// The training cost of an imported model, as its users state it; 0: not stated. Not hashed.
struct StatedTraining {
    double tokens = 0, flops = 0;
    double hours = 0;  // from its start to its end
    double usd = 0;
    std::string source;  // where that is written

    bool operator==(const StatedTraining&) const = default;
};

// Whose weights a trial starts from in place of drawn ones: [start], or another trial that has trained, which a sweep
// with stages fills in.
struct StartConfig {
    std::string from;         // a file or folder that engine::open_model() takes; not hashed
    std::string sha256;       // of it, filled by resolve_data()
    std::string trial;        // in place of both: config_hash() of the trial, which decides this one's weights
    std::string variant;      // and its variant_hash(), which enters this one's variant_hash()
    std::string format = {};  // of the files, for people, filled by resolve_data(); not hashed
    StatedTraining stated = {};

    bool operator==(const StartConfig&) const = default;
};

// Kept tokens of the layers that take only some: the table of that token dropper, such as [random_ltd].
struct TokenDroppingConfig {
    const engine::TokenDropper* dropper = nullptr;
    Growth growth{16, 0, 8};  // tokens
    std::vector<std::int64_t> layers;
    std::int64_t keep_first = 0;
    std::shared_ptr<void> settings;  // the dropper's own
};

// Samples of a step, growing to train.batch_size: [batch_ramp].
struct BatchRampConfig {
    Growth growth{1, 0, 1};
};

// As many samples a step as have max_tokens tokens at its length: [variable_batch].
struct VariableBatchConfig {
    std::int64_t max_tokens = 0;
    std::int64_t min_batch_size = 1;
    std::int64_t max_batch_size = 0;
    engine::LearningRateScaling learning_rate_scaling = engine::LearningRateScaling::linear;
};

// A task with a number of shots.
struct AskedTask {
    std::string name;                   // as in EvalConfig::tasks
    std::string sha256;                 // with the pool of shots where there are any
    std::optional<std::int64_t> shots;  // none in the configuration of an older program: as the task's file has it

    bool operator==(const AskedTask&) const = default;
};

// Evaluation of a trained model. It decides no weight, so it is in no configuration hash, except the keys that choose
// the best weights.
struct EvalConfig {
    std::int64_t validation_tokens = 65536;
    std::string every;  // validation_schedule.h
    SelectedWeights select = SelectedWeights::last;
    std::string metric = "loss";  // what the best weights are best by
    std::vector<std::string> tasks;
    std::vector<std::int64_t> shots;  // empty: of each task as its file has it
    std::int64_t documents = 200;
    ScoringCapacity capacity = ScoringCapacity::none;
    std::vector<AskedTask> asked;  // filled by resolve_data()
};

// Whether experts keep to training's capacity while the model is scored or validated.
bool scores_under_capacity(const EvalConfig& eval);

// One task that a trained model is scored by, in one way.
struct ScoreRequest {
    std::string task;  // as in EvalConfig, or kValidationTask
    std::string task_sha256;
    std::int64_t shots = 0;
    std::int64_t documents = 0;  // of validation: tokens
    std::string key;             // base/score_key.h

    bool operator==(const ScoreRequest&) const = default;
};

// Checkpoints to resume from; not part of the hash.
struct CheckpointConfig {
    double every_seconds = 120;
    std::int64_t keep = 2;
    double grace_seconds = 120;
};

struct TrialConfig {
    std::int64_t seed = 0;
    ModelConfig model;
    DataConfig data;
    TrainConfig train;
    std::optional<StartConfig> start;  // none: weights are drawn by the seed
    std::optional<CurriculumConfig> curriculum;
    std::optional<TokenDroppingConfig> token_dropping;
    std::optional<BatchRampConfig> batch_ramp;
    std::optional<VariableBatchConfig> variable_batch;  // or batch_ramp
    EvalConfig eval;
    CheckpointConfig checkpoint;
    std::int64_t log_every = 10;
    std::string base_folder;  // where relative files start; not part of the hash
};

// A technique's table with enabled = false is absent. Errors: config with the place: unknown keys (did-you-mean), wrong
// types, values that make no sense together, a budget smaller than one step.
// `checked`: names of tasks whose files a reading just before has found right, to which this one adds; null: none.
TrialConfig parse_trial_config(const ConfigNode& root, std::int64_t seed, const std::filesystem::path& base_folder,
                               std::set<std::string>* checked = nullptr);

// Layer-averaged tokens at which this trial stops: budget_tokens x budget_fraction, rounded.
std::int64_t budget_layer_tokens(const TrainConfig& train);

// Whether the trial trains no step: its model is that of [start] as it is, and its row in a table is an imported one.
// It has no techniques, and neither its seed nor most of [train] decide anything, so that they are in no hash.
bool is_imported(const TrialConfig& config);

// Finds the corpus, its tokenizer and the tasks' records, and fills data.sha256, data.vocab, and what eval
// asks. Reads all of their files once. Errors: io or config, naming the file and how to supply it.
void resolve_data(TrialConfig& config);

// Where the model of [start] is, as named beside the sweep file. Of a trial that has such.
std::filesystem::path start_path(const TrialConfig& config);

// The tasks alone: fills what eval asks. Errors: as above.
void resolve_tasks(TrialConfig& config);

// For planning without the data: where it is missing, data.sha256 becomes kDataMissing and what can be known without it
// is filled in; likewise the hash of a column. Errors: as above for all else.
inline constexpr const char* kDataMissing = "missing";
void resolve_data_if_present(TrialConfig& config);

// For a trial whose data are missing: the missing files of a text corpus, or else the name of the corpus.
std::vector<std::string> missing_data(const TrialConfig& config);

// All fields that decide the result, defaults expanded. The inverse takes what this wrote.
Json to_json(const TrialConfig& config);
TrialConfig from_json(const Json& json);

// sha256 of the canonical JSON of what decides the weights, with the seed, and without it and those of the trials that
// it starts from. Needs resolve_data().
std::string config_hash(const TrialConfig& config);
std::string variant_hash(const TrialConfig& config);

// The evaluation that config.eval asks for: validation, then each task with each number of shots. Needs resolve_data().
std::vector<ScoreRequest> score_requests(const TrialConfig& config);

}  // namespace deft::experiments
