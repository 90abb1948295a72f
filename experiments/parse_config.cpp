// From TOML to a trial's configuration, strictly.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "base/metric.h"
#include "base/table_reader.h"
#include "engine/data/bert/samples.h"
#include "engine/data_efficiency/token_dropping/token_dropping.h"
#include "experiments/config_fields.h"
#include "experiments/datasets/catalogue.h"
#include "experiments/datasets/image_dataset.h"
#include "experiments/datasets/labelled_dataset.h"
#include "experiments/engine_config.h"
#include "experiments/evaluation/task.h"
#include "experiments/evaluation/validation_schedule.h"
#include "experiments/parse_model.h"
#include "experiments/parse_samples.h"
#include "experiments/parse_techniques.h"
#include "experiments/size_limits.h"
#include "experiments/train_keys.h"

namespace deft::experiments {

namespace {

// The corpora made or read by rules of their own, then those of the catalogue; of images the sets of them.
void require_corpus(const TableReader& table, const DataConfig& data) {
    const bool is_images = data.samples == SampleKind::images;
    std::vector<std::string> names;
    if (!is_images) names = names_of<BuiltInCorpus>();
    if (std::find(names.begin(), names.end(), data.corpus) != names.end()) return;
    for (const CatalogueEntry& entry : load_catalogue()) {
        if (entry.kind == (is_images ? "images" : "corpus")) names.push_back(entry.name);
        if (!is_images && entry.kind == "images" && entry.name == data.corpus)
            table.refuse("corpus", fmt::format("= \"{}\" is a set of images", data.corpus),
                         "set data.samples = \"images\"");
    }
    table.require_one_of("corpus", data.corpus, names);
}

// The task whose records are trained on.
void require_labelled_task(const TableReader& table, const DataConfig& data, const std::string& base_folder) {
    if (data.corpus == DataConfig{}.corpus)
        table.refuse("corpus", "must name a task with data.samples = \"labelled\"",
                     "name a task with [train] records, as in corpus = \"glue_rte\"");
    try {
        labelled_task(data, base_folder);
    } catch (const Error& error) {
        table.refuse("corpus", fmt::format("= \"{}\": {}", data.corpus, error.what()));
    }
}

// The reader of a child table, or of an empty one in its stead.
TableReader child(TableReader& root, const char* key, const ConfigNode& empty) {
    const ConfigNode* node = root.optional_node(key);
    return TableReader(node != nullptr ? *node : empty, key);
}

void parse_data(TableReader table, const std::string& base_folder, DataConfig& data) {
    const SampleTables tables{table.optional_node("bert"), table.optional_node("images"),
                              table.optional_node("labelled")};
    read_table(table, data);
    parse_samples(table, tables, data);
    if (data.samples == SampleKind::labelled) return require_labelled_task(table, data, base_folder);
    require_corpus(table, data);
    if (data.samples == SampleKind::images) return;
    const bool is_indexed = built_in_corpus(data) == BuiltInCorpus::indexed;
    const bool has_files = is_indexed || built_in_corpus(data) == BuiltInCorpus::text;
    if (has_files && data.train_files.empty())
        table.refuse("train_files", fmt::format("is empty: corpus = \"{}\" needs files to train on", data.corpus));
    for (const auto& [key, files] : {std::pair{"train_files", &data.train_files}, {"valid_files", &data.valid_files}})
        if (!has_files && !files->empty())
            table.refuse(key, fmt::format("has no effect with corpus = \"{}\"", data.corpus),
                         "set data.corpus = \"text\" or drop the files");
    if (is_indexed && data.max_bytes != 0)
        table.refuse("max_bytes", "has no effect with corpus = \"indexed\", which is used as it is", "drop the key");
    for (const auto& [key, files] : {std::pair{"train_files", &data.train_files}, {"valid_files", &data.valid_files}})
        if (is_indexed && files->size() > 1 &&
            !std::all_of(files->begin(), files->end(), [](const std::string& file) { return file.ends_with(".bin"); }))
            table.refuse(key,
                         "must be the prefix of one Megatron dataset, without .bin or .idx, or token shards of llm.c, "
                         "each with its .bin");
    constexpr std::int64_t kMostShare = 1'000'000'000;
    const bool shares = data.split.size() == 3 && data.split[0] > 0 && data.split[1] > 0 && data.split[2] >= 0 &&
                        *std::max_element(data.split.begin(), data.split.end()) <= kMostShare;
    if (!shares) table.refuse("split", "must be three shares of the documents, as in [949, 50, 1]");
    if (trains_tokenizer(data)) {
        if (is_indexed)
            table.refuse("tokenizer", "cannot be trained: an indexed dataset is already tokenized",
                         "name the tokenizer that the dataset was made with");
        table.require_at_least("vocab", data.vocab, 258);
        table.require_at_most("vocab", data.vocab, kMostVocab);
    } else if (data.vocab != 0) {
        table.refuse("vocab",
                     fmt::format("has no effect with tokenizer = \"{}\", which has its own vocabulary", data.tokenizer),
                     "drop the key");
    }
}

// Nothing that is set may be without effect.
void require_used(TableReader& table, const TrainConfig& train) {
    for (const TrainKeyUse& unused : unused_train_keys(train))
        if (table.optional_node(unused.key) != nullptr)
            table.refuse(unused.key,
                         fmt::format("has no effect without train.{} = \"{}\"", unused.chooser(), unused.value()),
                         fmt::format("drop the key, or set train.{} = \"{}\"", unused.chooser(), unused.value()));
    if (train.decay == engine::Decay::step && train.min_learning_rate > 0)
        table.refuse("min_learning_rate", "has no effect with train.decay = \"step\", which ends with its last stage",
                     "set it to 0: the last stage's rate follows from train.decay_factor and train.decay_stages");
}

void require_padding(TableReader& table, const DataConfig& data) {
    const bool has_padding = data.samples == SampleKind::bert || data.samples == SampleKind::labelled;
    if (!has_padding && table.optional_node("rows") != nullptr)
        table.refuse("rows", "has an effect only on padded samples; packed text and images have no padding",
                     "drop the key, or set data.samples = \"bert\"");
}

void require_one_warmup(const TableReader& table, const TrainConfig& train) {
    std::vector<const char*> set;
    if (train.warmup_tokens > 0) set.push_back("warmup_tokens");
    if (train.warmup_steps > 0) set.push_back("warmup_steps");
    if (train.warmup_share > 0) set.push_back("warmup_share");
    if (set.size() > 1)
        table.refuse(set[1], fmt::format("cannot be combined with train.{}", set[0]),
                     "keep one of them, and drop the other or set it to 0");
}

// Steps of a training whose epochs are not counted; enough for every share of them.
constexpr double kUnknownSteps = 1000;

// Samples of an epoch that steps train on; nothing where their files are not here. Errors: config, where the number is
// known once a text is tokenised.
std::optional<std::int64_t> samples_to_train_on(const TableReader& table, const DataConfig& data,
                                                const std::string& base_folder) {
    if (data.samples == SampleKind::images) return training_images(data, base_folder);
    if (data.samples != SampleKind::labelled)
        table.refuse(
            "epochs",
            "requires images or labelled texts: the number of samples of a corpus is unknown before tokenization",
            "set train.budget_tokens");
    try {
        return whole_batches_of(training_records(data, base_folder), data.labelled);
    } catch (const Error& error) {
        if (error.kind() == ErrorKind::data) return {};
        table.refuse("epochs", fmt::format("counts passes over the records of {}: {}", data.corpus, error.what()));
    }
}

// The dropped rest of an epoch is counted in batches of a step.
void require_batches_of_a_step(const TableReader& table, const DataConfig& data, const TrainConfig& train) {
    if (data.labelled.whole_batches == 0 || data.labelled.whole_batches == train.batch_size) return;
    table.refuse(
        "batch_size",
        fmt::format("is {}, but data.labelled.whole_batches is {}", train.batch_size, data.labelled.whole_batches),
        "make them equal, or drop data.labelled.whole_batches to allow a smaller last step");
}

// From budget_tokens or epochs.
void parse_budget(TableReader& table, const ModelConfig& model, const DataConfig& data, const std::string& base_folder,
                  TrainConfig& train) {
    double epochs = 0;
    table.optional("epochs", epochs);
    const bool has_tokens = table.optional_node("budget_tokens") != nullptr;
    if (table.optional_node("epochs") == nullptr) {
        if (!has_tokens)
            table.refuse("budget_tokens", "is missing",
                         "set train.budget_tokens, or train.epochs for images or labelled texts");
        return;
    }
    if (epochs <= 0)
        table.refuse("epochs", fmt::format("is {:g}, and must be above 0", epochs),
                     "to import a model without training it, set start.from and budget_tokens = 0");
    if (has_tokens) table.refuse("epochs", "cannot be combined with train.budget_tokens", "keep one of them");
    const std::optional<std::int64_t> of_epoch = samples_to_train_on(table, data, base_folder);
    if (!of_epoch) train.unknown_epochs = epochs;
    const double samples =
        of_epoch ? epochs * static_cast<double>(*of_epoch)
                 : kUnknownSteps * static_cast<double>(train.batch_size) / std::min(1.0, train.budget_fraction);
    const double tokens = std::round(samples) * static_cast<double>(model.seqlen);
    table.require_at_most("epochs", tokens, static_cast<double>(kMostBudgetTokens));
    train.budget_tokens = static_cast<std::int64_t>(tokens);
}

void require_model_to_import(const TableReader& table, const TrainConfig& train, bool has_start) {
    if (train.budget_tokens != 0 || has_start) return;
    table.refuse("budget_tokens", "is 0, but start.from names no model to import",
                 "name one, as in start.from = \"my-gpt2\", or set train.budget_tokens above 0");
}

void parse_train(TableReader table, const ModelConfig& model, const DataConfig& data, const std::string& base_folder,
                 bool has_start, TrainConfig& train) {
    read_table(table, train);
    require_batches_of_a_step(table, data, train);
    parse_budget(table, model, data, base_folder, train);
    require_model_to_import(table, train, has_start);
    require_used(table, train);
    require_padding(table, data);
    require_one_warmup(table, train);
    if (train.micro_batch_size == 0) train.micro_batch_size = train.batch_size;
    train.micro_batch_size = std::min(train.micro_batch_size, train.batch_size);
    if (train.budget_tokens == 0) return;
    const std::int64_t step_tokens = train.batch_size * model.seqlen;
    const std::int64_t budget = budget_layer_tokens(train);
    if (budget < step_tokens)
        table.refuse("budget_tokens",
                     fmt::format("leaves a budget of {} tokens, less than one step ({} samples x {} tokens = {})",
                                 budget, train.batch_size, model.seqlen, step_tokens),
                     "raise train.budget_tokens or lower train.batch_size");
    if (budget / step_tokens > kMostSteps)
        table.refuse("budget_tokens",
                     fmt::format("takes {} steps of {} tokens; the maximum is {} steps", budget / step_tokens,
                                 step_tokens, kMostSteps),
                     "lower train.budget_tokens or raise train.batch_size");
}

// A model that predicts the labels of one task is evaluated on that task.
void require_questions_of_labels(const TableReader& table, const DataConfig& data, const std::string& base_folder,
                                 const EvalConfig& eval) {
    if (!eval.tasks.empty())
        table.refuse("tasks",
                     fmt::format("has no effect with labelled texts: the model is evaluated on {}", data.corpus),
                     "drop the key");
    const Task task = labelled_task(data, base_folder);
    std::vector<std::string> metrics = task.metrics;
    metrics.insert(metrics.begin(), "loss");
    table.require_one_of("metric", eval.metric, metrics);
    if (eval.validation_tokens != EvalConfig{}.validation_tokens)
        table.refuse("validation_tokens", "has no effect with labelled texts: every record of a split is evaluated",
                     "drop the key");
}

// A masked language model or an image classifier cannot continue text, and its loss is not that of all bytes.
void require_fitting_questions(const TableReader& table, const DataConfig& data, const std::string& base_folder,
                               const EvalConfig& eval) {
    if (data.samples == SampleKind::packed) {
        const ValidationData required = find_metric(eval.metric)->validates;
        if (required == ValidationData::classes)
            table.refuse("metric", "= \"acc\" requires a classifier, but packed samples train a language model",
                         "set eval.metric = \"loss\"");
        if (required == ValidationData::labels)
            table.refuse("metric", fmt::format("= \"{}\" requires data.samples = \"labelled\"", eval.metric),
                         "set eval.metric = \"loss\"");
        return;
    }
    if (data.samples == SampleKind::labelled) return require_questions_of_labels(table, data, base_folder, eval);
    const bool is_images = data.samples == SampleKind::images;
    if (find_metric(eval.metric)->validates == ValidationData::labels)
        table.refuse("metric", fmt::format("= \"{}\" requires data.samples = \"labelled\"", eval.metric),
                     "set eval.metric = \"loss\" or \"acc\"");
    if (!eval.tasks.empty())
        table.refuse("tasks",
                     is_images
                         ? "requires a model that continues text, but an image model predicts classes"
                         : "requires a model that continues text, but a model of BERT samples predicts masked tokens",
                     "drop the key, or set data.samples = \"packed\"");
    if (find_metric(eval.metric)->validates == ValidationData::all_tokens)
        table.refuse("metric",
                     is_images
                         ? "= \"bits_per_byte\" requires text, but the data is images"
                         : "= \"bits_per_byte\" requires all tokens, but a model of BERT samples predicts masked ones",
                     "set eval.metric = \"loss\" or \"acc\"");
    if (is_images && eval.validation_tokens != EvalConfig{}.validation_tokens)
        table.refuse("validation_tokens", "has no effect with images: every test image is evaluated", "drop the key");
}

void require_capacity(const TableReader& table, const ExpertLayersConfig& experts, const EvalConfig& eval) {
    if (!scores_under_capacity(eval)) return;
    if (experts.count.empty())
        table.refuse("capacity", "= \"reference\" is of experts, and the model has none",
                     "drop the key, or give the model experts in [model.experts]");
    if (experts.capacity_factor == 0)
        table.refuse("capacity", "= \"reference\" requires a training capacity, but model.experts.capacity_factor is 0",
                     "drop the key, or set model.experts.capacity_factor");
}

void parse_eval(TableReader table, const DataConfig& data, const ExpertLayersConfig& experts,
                const std::string& base_folder, std::set<std::string>* checked, EvalConfig& eval) {
    read_table(table, eval);
    require_fitting_questions(table, data, base_folder, eval);
    require_capacity(table, experts, eval);
    try {
        parse_validation_schedule(eval.every);
    } catch (const Error& error) {
        table.refuse("every", error.what());
    }
    if (eval.select == SelectedWeights::best && eval.every.empty())
        table.refuse("select", "= \"best\" requires validations during training", "set eval.every, as in \"20 times\"");
    if (eval.select == SelectedWeights::last && eval.metric != EvalConfig{}.metric)
        table.refuse("metric", "has no effect with eval.select = \"last\"",
                     "set eval.select = \"best\" or drop the key");
    for (std::size_t i = 0; i < eval.shots.size(); ++i)
        if (eval.shots[i] < 0 || std::find(eval.shots.begin(), eval.shots.begin() + static_cast<std::ptrdiff_t>(i),
                                           eval.shots[i]) != eval.shots.begin() + static_cast<std::ptrdiff_t>(i))
            table.refuse("shots", fmt::format("contains {}, which is negative or repeated", eval.shots[i]),
                         "list each number of few-shot examples once, from 0");
    for (const std::string& task : eval.tasks) {
        if (checked != nullptr && !checked->insert(task).second) continue;
        try {
            require_prompts(load_task(task, base_folder));
        } catch (const Error& error) {
            table.refuse("tasks", fmt::format("names {}: {}", task, error.what()));
        }
    }
}

// A model that ends its budget on cut rows has never seen its full length.
void require_full_length(const TableReader& root, const TrialConfig& config) {
    const engine::TrainerConfig trainer = trainer_config(config);
    const engine::Techniques& techniques = trainer.techniques;
    if (!techniques.seqtru && !techniques.seqres) return;
    const engine::Counts end = engine::run_schedule(trainer);
    const engine::StepPlan last = engine::plan_step(trainer, end.steps - 1);
    if (last.seqlen < trainer.model.max_seqlen)
        root.refuse(
            "curriculum",
            fmt::format("grows the length until step {}, and the budget ends after {}, at a length of {}",
                        (techniques.seqtru ? *techniques.seqtru : *techniques.seqres).duration, end.steps, last.seqlen),
            "shorten its duration or steps, or raise train.budget_tokens");
}

// Whatever is planned is counted in 64 bits: what no machine holds is refused before it is counted.
void require_countable(const TableReader& root, const TrialConfig& config) {
    const engine::TrainerConfig trainer = trainer_config(config);
    for (const auto& growing : {&trainer.techniques.seqtru, &trainer.techniques.seqres, &trainer.techniques.batch_ramp})
        if (*growing && (*growing)->duration > kMostSteps)
            root.refuse("train",
                        fmt::format("has a technique that grows over {} steps; the maximum is {}", (*growing)->duration,
                                    kMostSteps),
                        "shorten its duration or steps");
    const ModelConfig& model = config.model;
    const auto tokens = static_cast<double>(config.train.micro_batch_size) * static_cast<double>(model.seqlen);
    const auto width = static_cast<double>(model.width), layers = static_cast<double>(model.layers);
    const auto hidden = static_cast<double>(model.hidden);
    // Lower bound: a layer saves this many numbers per token, and a weight has a gradient and its moments, which ranks
    // may share.
    const RecomputeChoice recompute = config.train.recompute;
    const double saved = recompute == RecomputeChoice::none         ? 6 * width + 2 * hidden
                         : recompute == RecomputeChoice::activation ? 4 * width + hidden
                                                                    : width;
    const double weights = 2 * width * width + 2 * width * hidden;
    const engine::KeptMoments moments = engine::moments_of(trainer.optimizer);
    const double of_moments = trainer.zero == 1 ? 0 : moments.count * (moments.are_rounded ? 0.5 : 1);
    const double bytes = 4 * layers * (tokens * saved + (2 + of_moments) * weights);
    if (bytes > kMostBufferBytes)
        root.refuse("model",
                    fmt::format("and train.micro_batch_size need buffers of {:.1e} bytes; the maximum is {:.0e}", bytes,
                                kMostBufferBytes),
                    "lower model.width, model.layers, model.seqlen or train.micro_batch_size, or set train.recompute");
}

// An epoch shows each labelled text once, whole.
void require_plain_epochs(const TableReader& root, const TrialConfig& config) {
    const auto refuse = [&](const char* key, const char* why) {
        root.refuse(key, why, fmt::format("drop the table; {} supports labelled texts", dropper_of_any_samples()));
    };
    if (config.curriculum)
        refuse("curriculum", "does not support labelled texts: each epoch trains on every text once, in full");
    if (config.batch_ramp) refuse("batch_ramp", "does not support labelled texts, whose batch size is constant");
    if (config.variable_batch)
        refuse("variable_batch", "does not support labelled texts, whose batch size is constant");
}

StartConfig parse_start(TableReader table) {
    StartConfig start;
    read_table(table, start);
    if (start.from.empty())
        table.refuse("from", "is empty", "name a model, or drop [start] to start from random initialization");
    return start;
}

// A stated training cost applies only to a model that is imported without training.
void refuse_stated(TableReader table) {
    for (const char* key : {"tokens", "flops", "hours", "usd", "source"})
        if (table.optional_node(key) != nullptr)
            table.refuse(key, "applies only to a model that is imported without training",
                         "drop the key, or set train.budget_tokens = 0");
}

// An imported model has no training that a technique could change, nor one to validate on the way.
void finish_imported(const TableReader& root, TrialConfig& config) {
    const auto refuse = [&](const std::string& key) {
        root.refuse(key.c_str(), "has no effect with an imported model (train.budget_tokens = 0)",
                    "drop the table, or set enabled = false in it for this recipe");
    };
    if (config.curriculum) refuse("curriculum");
    if (config.batch_ramp) refuse("batch_ramp");
    if (config.variable_batch) refuse("variable_batch");
    if (config.token_dropping) refuse(config.token_dropping->dropper->name);
    config.eval.every = EvalConfig{}.every;
    config.eval.select = EvalConfig{}.select;
    config.eval.metric = EvalConfig{}.metric;
}

}  // namespace

TrialConfig parse_trial_config(const ConfigNode& root, std::int64_t seed, const std::filesystem::path& base_folder,
                               std::set<std::string>* checked) {
    TrialConfig config;
    config.seed = seed;
    config.base_folder = base_folder.string();
    TableReader reader(root, "");
    ConfigNode empty;
    empty.place = root.place;
    parse_data(child(reader, "data", empty), config.base_folder, config.data);
    config.model = parse_model(child(reader, "model", empty), config.data, config.base_folder);
    const ConfigNode* start = reader.optional_node("start");
    if (start != nullptr) config.start = parse_start(TableReader(*start, "start"));
    parse_train(child(reader, "train", empty), config.model, config.data, config.base_folder, start != nullptr,
                config.train);
    if (start != nullptr && !is_imported(config)) refuse_stated(TableReader(*start, "start"));
    if (const ConfigNode* node = reader.optional_node("curriculum"))
        config.curriculum = parse_curriculum(TableReader(*node, "curriculum"), config.model, config.data);
    if (const ConfigNode* node = reader.optional_node("batch_ramp"))
        config.batch_ramp = parse_batch_ramp(TableReader(*node, "batch_ramp"), config.train);
    if (const ConfigNode* node = reader.optional_node("variable_batch"))
        config.variable_batch = parse_variable_batch(TableReader(*node, "variable_batch"), config.model, config.train);
    if (config.variable_batch && config.data.samples == SampleKind::images)
        reader.refuse("variable_batch", "has no effect with images, which all have the same length",
                      "set train.batch_size, or use batch_ramp");
    if (config.data.samples == SampleKind::labelled) require_plain_epochs(reader, config);
    if (config.batch_ramp && config.variable_batch)
        reader.refuse("batch_ramp", "and variable_batch both set the batch size",
                      "keep one of them, and set enabled = false for the other");
    if (config.variable_batch && config.curriculum && config.curriculum->joins_samples())
        reader.refuse("variable_batch", "and curriculum.seqres both keep the tokens of a step constant",
                      "use seqtru with a variable batch, or seqres without");
    for (const engine::TokenDropper& dropper : engine::token_droppers()) {
        const ConfigNode* node = reader.optional_node(dropper.name);
        if (node == nullptr) continue;
        const auto dropping = parse_token_dropping(TableReader(*node, dropper.name), dropper, config.model);
        if (!dropping) continue;
        if (config.token_dropping)
            reader.refuse(
                dropper.name,
                fmt::format("and {} both choose the tokens that a layer keeps", config.token_dropping->dropper->name),
                "compare them as two recipes: in each, set enabled = false for the other");
        config.token_dropping = dropping;
    }
    parse_eval(child(reader, "eval", empty), config.data, config.model.experts, config.base_folder, checked,
               config.eval);
    TableReader checkpoint = child(reader, "checkpoint", empty);
    read_table(checkpoint, config.checkpoint);
    read_table(reader, config);
    if (is_imported(config)) finish_imported(reader, config);
    require_countable(reader, config);
    if (config.train.unknown_epochs == 0) require_full_length(reader, config);
    return config;
}

}  // namespace deft::experiments
