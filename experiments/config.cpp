#include "experiments/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/json.h"
#include "base/score_key.h"
#include "base/sha256.h"
#include "engine/train/foreign_weights.h"
#include "experiments/config_fields.h"
#include "experiments/curriculum_entries.h"
#include "experiments/datasets/bert_dataset.h"
#include "experiments/datasets/dataset.h"
#include "experiments/datasets/find_file.h"
#include "experiments/datasets/packed_dataset.h"
#include "experiments/datasets/text_files.h"
#include "experiments/evaluation/task.h"
#include "experiments/result_epoch.h"
#include "experiments/train_keys.h"

namespace deft::experiments {

namespace {

// The vocabulary size of a tokenizer that is known by name; 0: its files or its training decide it.
std::int64_t known_vocab(const DataConfig& data) {
    const std::optional<BuiltInTokenizer> tokenizer = built_in_tokenizer(data);
    if (!tokenizer) return 0;
    switch (*tokenizer) {
        case BuiltInTokenizer::bytes:
            return engine::Tokenizer::bytes().vocab();
        case BuiltInTokenizer::gpt2:
            return 50257;
        case BuiltInTokenizer::bert_base_uncased:
            return 30522;
        case BuiltInTokenizer::bpe:
            break;
    }
    return 0;
}

}  // namespace

std::int64_t budget_layer_tokens(const TrainConfig& train) {
    return static_cast<std::int64_t>(static_cast<double>(train.budget_tokens) * train.budget_fraction + 0.5);
}

bool is_imported(const TrialConfig& config) {
    return config.train.budget_tokens == 0 && config.start && !config.start->from.empty();
}

std::optional<BuiltInCorpus> built_in_corpus(const DataConfig& data) {
    return value_named<BuiltInCorpus>(data.corpus);
}

std::optional<BuiltInTokenizer> built_in_tokenizer(const DataConfig& data) {
    return value_named<BuiltInTokenizer>(data.tokenizer);
}

bool trains_tokenizer(const DataConfig& data) {
    return built_in_tokenizer(data) == BuiltInTokenizer::bpe;
}

bool scores_under_capacity(const EvalConfig& eval) {
    return eval.capacity == ScoringCapacity::reference;
}

bool orders_samples(const CurriculumMetric& metric) {
    return metric.entry == nullptr || !metric.entry->sets_length();
}

const CurriculumMetric* CurriculumConfig::find(const std::string& metric) const {
    for (const CurriculumMetric& m : metrics)
        if (m.metric == metric) return &m;
    return nullptr;
}

bool CurriculumConfig::joins_samples() const {
    return std::ranges::any_of(metrics, [](const CurriculumMetric& m) { return m.entry && m.entry->joins_samples; });
}

void resolve_tasks(TrialConfig& config) {
    EvalConfig& eval = config.eval;
    eval.asked.clear();
    for (const std::string& name : eval.tasks) {
        const Task own = load_task(name, config.base_folder);
        const bool is_asked_by_shots = takes_shots(own.kind) && !eval.shots.empty();
        for (const std::int64_t shots : is_asked_by_shots ? eval.shots : std::vector<std::int64_t>{own.shots})
            eval.asked.push_back({name, task_sha256(with_shots(own, shots)), shots});
    }
}

namespace {

void resolve_corpus_and_tasks(TrialConfig& config) {
    const DatasetIdentity identity = dataset_identity(config.data, config.base_folder);
    config.data.sha256 = identity.sha256;
    config.data.vocab = identity.vocab;
    config.data.epoch_samples = identity.epoch_samples;
    resolve_tasks(config);
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

// `missing`: the hash of a model that is not here; empty: an error. Returns its vocabulary; nothing where it is not
// here.
std::optional<std::int64_t> resolve_start(TrialConfig& config, const std::string& missing) {
    if (!config.start || config.start->from.empty()) return {};
    const std::filesystem::path path = start_path(config);
    if (!std::filesystem::exists(path) && !missing.empty()) {
        config.start->sha256 = missing;
        return {};
    }
    const engine::ImportedModel model = engine::open_model(path);
    config.start->sha256 = model.sha256;
    config.start->format = model.format;
    return model.config.vocab;
}

// A model that is taken as it is reads the tokens that it was trained on. It may have rows beyond them: a padded
// vocabulary.
void take_own_tokens(TrialConfig& config, std::optional<std::int64_t> vocab) {
    if (!is_imported(config) || !vocab || config.data.samples == SampleKind::images) return;
    const bool is_trained_here = trains_tokenizer(config.data);  // its size is the user's, and names the tokenizer
    if (*vocab < config.data.vocab || (is_trained_here && *vocab != config.data.vocab))
        throw Error(
            ErrorKind::config,
            fmt::format("{} has a vocabulary of {} tokens, but data.tokenizer = \"{}\" has {}",
                        start_path(config).string(), *vocab, config.data.tokenizer, config.data.vocab),
            "set the recipe's data.tokenizer to the model's own, as in \"gpt2\" or a folder with its vocab.json and "
            "merges.txt",
            "nothing was imported");
    config.data.vocab = *vocab;
}

}  // namespace

std::filesystem::path start_path(const TrialConfig& config) {
    return std::filesystem::path(config.base_folder) / config.start->from;
}

void resolve_data(TrialConfig& config) {
    const std::optional<std::int64_t> vocab = resolve_start(config, "");
    resolve_corpus_and_tasks(config);
    take_own_tokens(config, vocab);
    resolve_columns(config, "");
}

namespace {

// Entries of the tokenizer that the configuration names; 0 where its files are not here, or it is trained on the data.
std::int64_t vocab_if_present(const TrialConfig& config) {
    const DataConfig& data = config.data;
    if (trains_tokenizer(data) || data.samples == SampleKind::images) return 0;
    try {
        if (data.samples == SampleKind::packed) return named_tokenizer(data.tokenizer, config.base_folder).vocab();
        const bool is_bert = data.samples == SampleKind::bert;
        return named_wordpiece(data.tokenizer, is_bert ? data.bert.lower_case : data.labelled.lower_case,
                               config.base_folder)
            ->vocab();
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::data) throw;
        return 0;
    }
}

}  // namespace

void resolve_data_if_present(TrialConfig& config) {
    const std::optional<std::int64_t> vocab = resolve_start(config, kDataMissing);
    resolve_columns(config, kDataMissing);
    try {
        resolve_corpus_and_tasks(config);
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::data) throw;
        config.data.sha256 = kDataMissing;
        config.eval.asked.clear();
        for (const std::string& name : config.eval.tasks)
            for (const std::int64_t shots :
                 config.eval.shots.empty() ? std::vector<std::int64_t>{0} : config.eval.shots)
                config.eval.asked.push_back({name, fmt::format("{} of {}", kDataMissing, name), shots});
        if (const std::int64_t vocab_of_name = known_vocab(config.data)) config.data.vocab = vocab_of_name;
        if (config.data.vocab == 0) config.data.vocab = vocab_if_present(config);
        if (config.data.vocab == 0 && config.data.samples != SampleKind::images) throw;
    }
    take_own_tokens(config, vocab);
}

namespace {

// The fields of a growing quantity that its pacing uses.
template <class Technique>
Json grown_json(const Technique& technique, const Growth& growth) {
    Json json = fields_json(technique);
    drop_unused(json, growth);
    return json;
}

Json metric_json(const CurriculumMetric& metric) {
    Json json = grown_json(metric, metric.growth);
    if (metric.column.empty()) json.erase("column_sha256");
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

// Without keys that came later where they have the value that everything had before: trials of then keep their hashes.
template <class Record>
Json json_without_later_defaults(const Record& record, FieldPart part = FieldPart::all_but_local) {
    Json json = fields_json(record, part);
    const Json before = fields_json(Record{}, part);
    for (const Field& field : fields_of(record))
        if (field.rules.came_later && json.contains(field.key) && json.at(field.key) == before.at(field.key))
            json.erase(field.key);
    return json;
}

// Keys added after the first release are written only where they are used, so that older trials keep their hashes.
Json data_json(const DataConfig& data) {
    Json json = fields_json(data);
    if (data.samples == SampleKind::bert) json["bert"] = fields_json(data.bert);
    if (data.samples == SampleKind::packed) json.erase("samples");
    if (data.samples == SampleKind::images) {
        json["images"] = json_without_later_defaults(data.images);
        for (const char* key : {"split", "max_bytes", "vocab"}) json.erase(key);
    }
    if (data.samples == SampleKind::labelled) {
        json["labelled"] = json_without_later_defaults(data.labelled);
        for (const char* key : {"split", "max_bytes"}) json.erase(key);
    } else {
        json.erase("epoch_samples");
    }
    if (built_in_corpus(data) != BuiltInCorpus::embedded)
        for (const char* key : {"embedded_seed", "embedded_bytes", "shuffled_facts"}) json.erase(key);
    return json;
}

// Puts such keys of [model] back: a kind may have another default.
void add_later_defaults(Json& model) {
    const Json before = fields_json(ModelConfig{});
    for (const Field& field : fields_of(ModelConfig{}))
        if (field.rules.came_later && !model.contains(field.key)) model[field.key] = before.at(field.key);
}

Json start_json(const StartConfig& start) {
    if (start.from.empty()) return {{"trial", start.trial}, {"variant", start.variant}};
    return {{"sha256", start.sha256}};
}

std::optional<StartConfig> start_of(const Json& trial) {
    if (!trial.contains("start")) return {};
    const Json& start = trial.at("start");
    const Json& local = trial.at("local");
    StartConfig read{local.value("start_from", ""), start.value("sha256", ""), start.value("trial", ""),
                     start.value("variant", "")};
    read.format = local.value("start_format", "");
    if (!local.contains("start_stated")) return read;
    const Json& stated = local.at("start_stated");
    read.stated = {stated.at("tokens"), stated.at("flops"), stated.at("hours"), stated.at("usd"), stated.at("source")};
    return read;
}

// Where the model of [start] is, and what is said of it: neither decides a weight.
Json start_local_json(const StartConfig& start) {
    Json json = {{"start_from", start.from}};
    if (!start.format.empty()) json["start_format"] = start.format;
    const StatedTraining& stated = start.stated;
    if (stated != StatedTraining{})
        json["start_stated"] = {{"tokens", stated.tokens},
                                {"flops", stated.flops},
                                {"hours", stated.hours},
                                {"usd", stated.usd},
                                {"source", stated.source}};
    return json;
}

// Keys of [train] that affect an imported model's results; the batch size of evaluation decides no score.
Json imported_train_json(const TrainConfig& train) {
    return {{"budget_tokens", 0}, {"dtype", name_of(train.dtype)}};
}

// Without what the optimizer or the schedule does not read.
Json train_json(const TrainConfig& train) {
    Json json = json_without_later_defaults(train);
    for (const TrainKeyUse& unused : unused_train_keys(train)) json.erase(unused.key);
    return json;
}

// The tasks asked are parallel arrays: one entry per task and number of shots.
Json eval_json(const EvalConfig& eval) {
    Json json = fields_json(eval);
    for (const char* key : {"asked", "task_sha256", "asked_shots"}) json[key] = Json::array();
    for (const AskedTask& task : eval.asked) {
        json["asked"].push_back(task.name);
        json["task_sha256"].push_back(task.sha256);
        if (task.shots) json["asked_shots"].push_back(*task.shots);
    }
    return json;
}

// Takes them out. An older program asked each task once, with its own number of shots.
std::vector<AskedTask> take_asked(Json& eval) {
    const auto names = eval.value("asked", eval.at("tasks").get<std::vector<std::string>>());
    const auto hashes = eval.at("task_sha256").get<std::vector<std::string>>();
    const auto shots = eval.value("asked_shots", std::vector<std::int64_t>());
    for (const char* key : {"asked", "task_sha256", "asked_shots"}) eval.erase(key);
    std::vector<AskedTask> asked;
    for (std::size_t i = 0; i < names.size() && i < hashes.size(); ++i)
        asked.push_back({names[i], hashes[i], i < shots.size() ? std::optional(shots[i]) : std::nullopt});
    return asked;
}

}  // namespace

std::vector<std::string> missing_data(const TrialConfig& config) {
    if (built_in_corpus(config.data) != BuiltInCorpus::text) return {config.data.corpus};
    std::vector<std::string> missing;
    for (const auto* files : {&config.data.train_files, &config.data.valid_files})
        for (const std::string& name : *files) try {
                text_files(name, config.base_folder);
            } catch (const Error&) {
                missing.push_back(name);
            }
    if (missing.empty()) missing.push_back(config.data.corpus);
    return missing;
}

Json to_json(const TrialConfig& c) {
    Json json;
    json["result_epoch"] = kResultEpoch;
    json["seed"] = c.seed;
    json["model"] = json_without_later_defaults(c.model);
    if (!c.model.experts.count.empty()) json["model"]["experts"] = fields_json(c.model.experts);
    json["data"] = data_json(c.data);
    json["train"] = is_imported(c) ? imported_train_json(c.train) : train_json(c.train);
    if (c.train.unknown_epochs > 0)
        json["train"].update({{"budget_tokens", nullptr}, {"epochs", c.train.unknown_epochs}});
    if (c.start) json["start"] = start_json(*c.start);
    if (c.curriculum)
        for (const CurriculumMetric& m : c.curriculum->metrics) json["curriculum"][m.metric] = metric_json(m);
    if (c.batch_ramp) json["batch_ramp"] = grown_json(*c.batch_ramp, c.batch_ramp->growth);
    if (c.variable_batch) json["variable_batch"] = fields_json(*c.variable_batch);
    if (const auto& dropping = c.token_dropping)
        json[dropping->dropper->name] = grown_json(*dropping, dropping->growth);
    json["eval"] = eval_json(c.eval);
    if (c.eval.select == SelectedWeights::best) {
        json["selection"] = {
            {"every", c.eval.every}, {"metric", c.eval.metric}, {"validation_tokens", c.eval.validation_tokens}};
        if (scores_under_capacity(c.eval)) json["selection"]["capacity"] = name_of(c.eval.capacity);
    }
    // Keys that do not decide the result: where files are, how often to log and to keep.
    json["local"] = fields_json(c.data, FieldPart::local);
    json["local"].update(fields_json(c, FieldPart::local));
    json["local"].update(fields_json(c.model, FieldPart::local));
    json["local"].update(json_without_later_defaults(c.train, FieldPart::local));
    json["local"]["base_folder"] = c.base_folder;
    json["local"]["columns"] = columns_json(c);
    if (c.start && !c.start->from.empty()) json["local"].update(start_local_json(*c.start));
    if (is_imported(c)) json["local"]["micro_batch_size"] = c.train.micro_batch_size;
    json["local"]["checkpoint"] = fields_json(c.checkpoint, FieldPart::local);
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
    for (const char* key : {"local", "seed", "result_epoch", "selection", "start"}) tables.erase(key);
    Json& data = tables.at("data");
    const auto sha = data.at("sha256").get<std::string>();
    const auto vocab = data.value("vocab", std::int64_t{0});  // images have none
    std::vector<AskedTask> asked = take_asked(tables.at("eval"));
    const auto epoch_samples = data.value("epoch_samples", std::int64_t{0});  // of labelled texts alone
    data.erase("sha256");
    data.erase("epoch_samples");
    const auto take_local = [&](Json& table, const Fields& fields) {
        for (const Field& field : fields)
            if (field.rules.role == FieldRole::local && (!field.rules.came_later || local.contains(field.key)))
                table[field.key] = local.at(field.key);
    };
    take_local(data, fields_of(DataConfig{}));
    take_local(tables, fields_of(TrialConfig{}));
    take_local(tables.at("train"), fields_of(TrainConfig{}));
    take_local(tables.at("model"), fields_of(ModelConfig{}));
    add_later_defaults(tables.at("model"));
    if (tables.at("train").at("budget_tokens") == 0) {
        tables["start"] = {{"from", local.at("start_from")}};
        tables["train"]["batch_size"] = local.at("micro_batch_size");
    }
    if (data["tokenizer"] != Json(name_of(BuiltInTokenizer::bpe))) data.erase("vocab");
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
    config.start = start_of(json);
    config.data.sha256 = sha;
    config.data.vocab = vocab;
    config.data.epoch_samples = epoch_samples;
    config.eval.asked = std::move(asked);
    if (config.curriculum)
        for (CurriculumMetric& metric : config.curriculum->metrics)
            if (!metric.column.empty()) metric.column_sha256 = column_sha256.at(metric.metric);
    return config;
}

namespace {

Json hashed_part(const TrialConfig& config) {
    if (config.data.sha256.empty()) throw std::logic_error("a configuration was hashed before its data was resolved");
    Json json = to_json(config);
    for (const char* table : {"local", "eval"}) json.erase(table);
    if (is_imported(config)) json.erase("seed");
    return json;
}

}  // namespace

std::string config_hash(const TrialConfig& config) {
    return sha256(canonical_json(hashed_part(config)));
}

std::string variant_hash(const TrialConfig& config) {
    Json json = hashed_part(config);
    json.erase("seed");
    if (json.contains("start")) json["start"].erase("trial");
    return sha256(canonical_json(json));
}

std::vector<ScoreRequest> score_requests(const TrialConfig& config) {
    const EvalConfig& eval = config.eval;
    std::vector<ScoreRequest> requests;
    const std::int64_t capacity_samples = scores_under_capacity(eval) ? config.train.micro_batch_size : 0;
    const auto add = [&](const std::string& task, const std::string& sha256, std::int64_t shots,
                         std::int64_t documents) {
        ScoreRequest request{task, sha256, shots, documents, score_key(sha256, shots, documents, capacity_samples)};
        const bool is_new = std::none_of(requests.begin(), requests.end(),
                                         [&](const ScoreRequest& other) { return other.key == request.key; });
        if (is_new) requests.push_back(std::move(request));
    };
    add(kValidationTask, kValidationTask, 0, eval.validation_tokens);
    for (const AskedTask& task : eval.asked) add(task.name, task.sha256, task.shots.value(), eval.documents);
    return requests;
}

}  // namespace deft::experiments
