#include "experiments/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/json.h"
#include "base/sha256.h"
#include "experiments/datasets/find_file.h"
#include "experiments/datasets/load.h"
#include "experiments/evaluation/task.h"
#include "experiments/parse_techniques.h"

namespace deft::experiments {

namespace {

// Raised by hand whenever the trainer's numerics change, so that old results are not taken for new ones.
constexpr int kResultEpoch = 3;

constexpr std::int64_t kGpt2Vocab = 50257;

}  // namespace

std::int64_t budget_layer_tokens(const TrainConfig& train) {
    return static_cast<std::int64_t>(static_cast<double>(train.budget_tokens) * train.budget_fraction + 0.5);
}

bool orders_samples(const CurriculumMetric& metric) {
    return metric.metric != "seqtru" && metric.metric != "seqres";
}

std::string analysed_metric(const CurriculumMetric& metric) {
    return metric.metric == "seqreo" ? "seqlen" : metric.metric;
}

bool has_model(const TrialConfig& config) {
    return config.data.samples != "bert";
}

void require_model(const TrialConfig& config) {
    if (!has_model(config))
        throw Error(
            ErrorKind::config, "no model trains on BERT samples yet (data.samples = \"bert\")",
            "deft analyze, deft plan --draws and deft plan --figures show their difficulty, draws and schedules",
            "nothing was started");
}

const CurriculumMetric* CurriculumConfig::find(const std::string& metric) const {
    for (const CurriculumMetric& m : metrics)
        if (m.metric == metric) return &m;
    return nullptr;
}

namespace {

void resolve_corpus_and_tasks(TrialConfig& config) {
    const DatasetIdentity identity = dataset_identity(config.data, config.base_folder);
    config.data.sha256 = identity.sha256;
    config.data.vocab = identity.vocab;
    config.eval.task_sha256.clear();
    for (const std::string& name : config.eval.tasks)
        config.eval.task_sha256.push_back(task_sha256(load_task(name, config.base_folder)));
}

// `missing`: the hash of a column that is not here; empty: an error.
void resolve_columns(TrialConfig& config, const std::string& missing) {
    if (!config.curriculum) return;
    for (CurriculumMetric& metric : config.curriculum->metrics) {
        if (metric.column.empty()) continue;
        const bool here = look_for_data_file(metric.column, config.base_folder).has_value();
        metric.column_sha256 =
            here || missing.empty() ? sha256_file(find_data_file(metric.column, config.base_folder)) : missing;
    }
}

}  // namespace

void resolve_data(TrialConfig& config) {
    resolve_corpus_and_tasks(config);
    resolve_columns(config, "");
}

void resolve_data_if_present(TrialConfig& config) {
    resolve_columns(config, kDataMissing);
    try {
        resolve_corpus_and_tasks(config);
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::data) throw;
        config.data.sha256 = kDataMissing;
        if (config.data.tokenizer == "gpt2") config.data.vocab = kGpt2Vocab;
        if (config.data.tokenizer == "bytes") config.data.vocab = engine::Tokenizer::bytes().vocab();
        if (config.data.vocab == 0 && has_model(config)) throw;
    }
}

namespace {

Json routing_json(const RoutingConfig& routing, const ModelConfig& model) {
    Json json = {{"layers", routing.layers}, {"keep_first", routing.keep_first}};
    add_to_json(json, routing.growth, growth_range(routing, model));
    return json;
}

Json metric_json(const CurriculumMetric& metric, const ModelConfig& model) {
    Json json = {{"difficulty", metric.difficulty}};
    if (!metric.column.empty()) json["column_sha256"] = metric.column_sha256;
    add_to_json(json, metric.growth, growth_range(metric, model));
    return json;
}

// Files of difficulties, by metric.
Json columns_json(const TrialConfig& c) {
    Json columns = Json::object();
    if (c.curriculum)
        for (const CurriculumMetric& metric : c.curriculum->metrics)
            if (!metric.column.empty()) columns[metric.metric] = metric.column;
    return columns;
}

// What changes the samples of a step.
void add_batches(Json& json, const TrialConfig& c) {
    if (c.batch_ramp) {
        json["batch_ramp"] = Json::object();
        add_to_json(json["batch_ramp"], c.batch_ramp->growth, growth_range(*c.batch_ramp, c.train));
    }
    if (const auto& batch = c.variable_batch)
        json["variable_batch"] = {{"max_tokens", batch->max_tokens},
                                  {"min_batch_size", batch->min_batch_size},
                                  {"max_batch_size", batch->max_batch_size},
                                  {"learning_rate_scaling", batch->learning_rate_scaling}};
}

// BERT's samples have a length and no model.
Json model_json(const TrialConfig& c) {
    if (!has_model(c)) return {{"seqlen", c.model.seqlen}};
    return {{"kind", c.model.kind},   {"layers", c.model.layers}, {"width", c.model.width},
            {"heads", c.model.heads}, {"seqlen", c.model.seqlen}, {"init_std", c.model.init_std}};
}

// Packed samples came first: they are not named, so that older trials keep their hashes.
void add_samples(Json& json, const DataConfig& data) {
    if (data.samples != "bert") return;
    const BertSamplesConfig& bert = data.bert;
    json["samples"] = data.samples;
    json["bert"] = {{"sentences", bert.sentences},
                    {"lower_case", bert.lower_case},
                    {"pairs", bert.pairs},
                    {"short_probability", bert.short_probability},
                    {"mask_fraction", bert.mask_fraction},
                    {"whole_words", bert.whole_words},
                    {"seed", bert.seed}};
}

}  // namespace

Json to_json(const TrialConfig& c) {
    Json json;
    json["result_epoch"] = kResultEpoch;
    json["seed"] = c.seed;
    json["model"] = model_json(c);
    json["data"] = {{"corpus", c.data.corpus},
                    {"sha256", c.data.sha256},
                    {"vocab", c.data.vocab},
                    {"split", c.data.split},
                    {"max_bytes", c.data.max_bytes}};
    add_samples(json["data"], c.data);
    if (c.data.corpus == "embedded") {
        json["data"]["embedded_seed"] = c.data.embedded_seed;
        json["data"]["embedded_bytes"] = c.data.embedded_bytes;
        json["data"]["shuffled_facts"] = c.data.shuffled_facts;
    }
    const TrainConfig& t = c.train;
    json["train"] = {{"batch_size", t.batch_size},
                     {"micro_batch_size", t.micro_batch_size},
                     {"budget_tokens", t.budget_tokens},
                     {"budget_fraction", t.budget_fraction},
                     {"learning_rate", t.learning_rate},
                     {"learning_rate_by_budget", t.learning_rate_by_budget},
                     {"min_learning_rate", t.min_learning_rate},
                     {"decay", t.decay},
                     {"warmup_tokens", t.warmup_tokens},
                     {"decay_tokens", t.decay_tokens},
                     {"weight_decay", t.weight_decay},
                     {"beta1", t.beta1},
                     {"beta2", t.beta2},
                     {"eps", t.eps},
                     {"max_grad_norm", t.max_grad_norm},
                     {"dtype", t.dtype}};
    if (c.curriculum)
        for (const CurriculumMetric& m : c.curriculum->metrics)
            json["curriculum"][m.metric] = metric_json(m, c.model);
    add_batches(json, c);
    if (c.random_ltd) json["random_ltd"] = routing_json(*c.random_ltd, c.model);
    if (c.token_bypass) {
        json["token_bypass"] = routing_json(c.token_bypass->routing, c.model);
        json["token_bypass"]["decay"] = c.token_bypass->decay;
        json["token_bypass"]["special_tokens"] = c.token_bypass->special_tokens;
    }
    json["eval"] = {{"validation_tokens", c.eval.validation_tokens},
                    {"tasks", c.eval.tasks},
                    {"documents", c.eval.documents},
                    {"task_sha256", c.eval.task_sha256}};
    // What does not decide the result: where files are, how often to log and to keep.
    json["local"] = {{"log_every", c.log_every},
                     {"base_folder", c.base_folder},
                     {"train_files", c.data.train_files},
                     {"valid_files", c.data.valid_files},
                     {"tokenizer", c.data.tokenizer},
                     {"columns", columns_json(c)},
                     {"checkpoint",
                      {{"every_seconds", c.checkpoint.every_seconds},
                       {"keep", c.checkpoint.keep},
                       {"grace_seconds", c.checkpoint.grace_seconds}}}};
    return json;
}

TrialConfig from_json(const Json& json) {
    Json tables = json;
    const Json local = tables.at("local");
    const std::int64_t seed = tables.at("seed");
    if (tables.at("result_epoch") != kResultEpoch)
        throw Error(ErrorKind::config,
                    fmt::format("this trial was made for result epoch {}, this program has {}",
                                tables.at("result_epoch").dump(), kResultEpoch),
                    "run the sweep again with this program");
    for (const char* key : {"local", "seed", "result_epoch"}) tables.erase(key);
    Json& data = tables.at("data");
    const auto sha = data.at("sha256").get<std::string>();
    const auto vocab = data.at("vocab").get<std::int64_t>();
    const auto task_sha256 = tables.at("eval").at("task_sha256").get<std::vector<std::string>>();
    data.erase("sha256");
    tables["eval"].erase("task_sha256");
    for (const char* key : {"train_files", "valid_files", "tokenizer"}) data[key] = local.at(key);
    if (data["tokenizer"] != "bpe") data.erase("vocab");
    tables["log_every"] = local.at("log_every");
    tables["checkpoint"] = local.at("checkpoint");
    std::map<std::string, std::string> column_sha256;
    for (const auto& [metric, column] : local.at("columns").items()) {
        Json& table = tables.at("curriculum").at(metric);
        column_sha256[metric] = table.at("column_sha256");
        table.erase("column_sha256");
        table["column"] = column;
    }
    TrialConfig config = parse_trial_config(deft::from_json(tables, Place{"trial.json"}), seed,
                                            local.at("base_folder").get<std::string>());
    config.data.sha256 = sha;
    config.data.vocab = vocab;
    config.eval.task_sha256 = task_sha256;
    if (config.curriculum)
        for (CurriculumMetric& metric : config.curriculum->metrics)
            if (!metric.column.empty()) metric.column_sha256 = column_sha256.at(metric.metric);
    return config;
}

namespace {

Json hashed_part(const TrialConfig& config) {
    if (config.data.sha256.empty()) throw std::logic_error("a configuration was hashed before its data was resolved");
    Json json = to_json(config);
    json.erase("local");
    // Padding once counted in full there, and with it budgets and learning rates were others.
    const bool routed = config.random_ltd || config.token_bypass;
    if (routed && config.curriculum && config.curriculum->find("seqres")) json["padding"] = "as its row";
    // Samples that were admitted together once came in the order of others, of as many.
    if (config.curriculum &&
        std::any_of(config.curriculum->metrics.begin(), config.curriculum->metrics.end(), orders_samples))
        json["draws"] = "an order a cluster";
    return json;
}

}  // namespace

std::string config_hash(const TrialConfig& config) {
    return sha256(canonical_json(hashed_part(config)));
}

std::string variant_hash(const TrialConfig& config) {
    Json json = hashed_part(config);
    json.erase("seed");
    return sha256(canonical_json(json));
}

}  // namespace deft::experiments
