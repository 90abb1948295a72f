#include "experiments/evaluate_checkpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/json.h"
#include "base/score_key.h"
#include "base/text.h"
#include "engine/generation/generator.h"
#include "engine/io/huggingface_config.h"
#include "engine/io/weight_names.h"
#include "engine/train/checkpoint.h"
#include "experiments/datasets/bert_dataset.h"
#include "experiments/engine_config.h"
#include "experiments/evaluation/check_task.h"
#include "experiments/evaluation/evaluate_task.h"

namespace deft::experiments {

namespace {

namespace fs = std::filesystem;

// Elements of the largest activation, above which a plan's sizes would no longer fit 64 bits or any machine.
constexpr double kMostElements = 1e12;

[[noreturn]] void not_one_model(const fs::path& folder, const std::string& why) {
    throw Error(ErrorKind::config, fmt::format("checkpoint {}: {}", folder.string(), why),
                "its files are not of one model: take the folder as a trial left it");
}

TrialConfig config_of(const Json& manifest, const fs::path& folder) {
    const Json& about = manifest.at("about");
    if (about.is_object() && about.contains("imported") && !about.contains("config"))
        throw Error(
            ErrorKind::config,
            fmt::format("checkpoint {} was imported, and is not a text model with a tokenizer", folder.string()),
            "import a GPT-2 or Llama with its tokenizer to score it; this one can be exported");
    try {
        return from_json(about.at("config"));
    } catch (const Json::exception& error) {
        throw Error(ErrorKind::io, fmt::format("checkpoint {} is damaged: its checkpoint.json holds no trial's "
                                               "configuration: {}",
                                               folder.string(), error.what()));
    }
}

std::int64_t widest_hidden(const engine::TransformerConfig& model) {
    std::int64_t widest = 0;
    for (const engine::BlockConfig& block : model.blocks) widest = std::max(widest, block.feed_forward.hidden);
    return widest;
}

// Layers whose attention the file has.
std::int64_t layers_in(const engine::SafetensorsFile& weights, engine::WeightNames names,
                       const engine::TransformerConfig& model) {
    for (std::int64_t layer = 0;; ++layer) {
        const engine::OwnWeight output{
            fmt::format("h.{}.attn.c_proj.weight", layer), engine::ParameterKind::residual, {model.width, model.width}};
        if (!weights.tensors.contains(engine::stored_parts(names, model, output).front().name)) return layer;
    }
}

// The extents that the configuration claims are those of the weights, before memory is asked for by them.
void require_extents(const engine::TransformerConfig& model, std::int64_t micro_batch, const fs::path& folder,
                     const engine::SafetensorsFile& weights) {
    const engine::WeightNames names =
        engine::names_in_file(engine::huggingface_counterpart(model).names,
                              [&](const std::string& name) { return weights.tensors.contains(name); });
    const auto require = [&](const char* own, engine::ParameterKind kind, std::int64_t rows, std::int64_t columns) {
        const engine::StoredPart part = engine::stored_parts(names, model, {own, kind, {rows, columns}}).front();
        const auto found = weights.tensors.find(part.name);
        if (found == weights.tensors.end())
            not_one_model(folder, fmt::format("model.safetensors has no {}", part.name));
        const engine::Tensor& tensor = found->second;
        const std::vector<std::int64_t> shape(tensor.shape.begin(), tensor.shape.begin() + tensor.rank);
        if (shape != part.shape)
            not_one_model(folder, fmt::format("{} is {}, and the configuration wants ({})", part.name,
                                              tensor.shape_text(), fmt::join(part.shape, ", ")));
    };
    if (const auto& patches = model.input.patches)
        require("patch.weight", engine::ParameterKind::matrix, model.width, patches->values());
    else
        require("wte.weight", engine::ParameterKind::embedding, model.vocab, model.width);
    if (model.input.positions == engine::Positions::learned)
        require("wpe.weight", engine::ParameterKind::embedding, model.max_seqlen, model.width);
    const std::int64_t layers = layers_in(weights, names, model);
    if (layers != model.layers())
        not_one_model(folder,
                      fmt::format("model.safetensors has {} layers, the configuration {}", layers, model.layers()));
    const double elements = static_cast<double>(micro_batch) * static_cast<double>(model.max_seqlen) *
                            static_cast<double>(std::max(widest_hidden(model), model.vocab));
    if (elements > kMostElements)
        throw Error(ErrorKind::memory, fmt::format("checkpoint {}: micro-batches of {} samples fit no machine",
                                                   folder.string(), micro_batch));
}

engine::AnyTokenizer tokenizer_of(const DataConfig& data, const Json& about, const fs::path& folder) {
    if (data.samples == SampleKind::images) return engine::NoTokenizer{};
    std::string name, sha256;
    try {
        name = about.at("tokenizer").get<std::string>();
        sha256 = about.value("tokenizer_sha256", "");
    } catch (const Json::exception& error) {
        throw Error(ErrorKind::io, fmt::format("checkpoint {} is damaged: {}", folder.string(), error.what()));
    }
    engine::AnyTokenizer tokenizer = engine::Tokenizer::bytes();
    if (data.samples == SampleKind::bert)
        tokenizer = read_wordpiece(folder, data.bert.lower_case);
    else if (data.samples == SampleKind::labelled)
        tokenizer = read_wordpiece(folder, data.labelled.lower_case);
    else
        tokenizer = engine::read_stored_tokenizer(folder, name);
    if (!sha256.empty() && engine::sha256_of(tokenizer) != sha256)
        not_one_model(folder, "its tokenizer is not the one that it was trained with");
    return tokenizer;
}

// A task that has changed since training gives other scores than the trial's.
void note_changed_tasks(const TrialConfig& config, const std::vector<std::string>& tasks,
                        std::vector<std::string>& notes) {
    for (const std::string& name : tasks) {
        const auto found = std::ranges::find(config.eval.asked, name, &AskedTask::name);
        if (found == config.eval.asked.end()) continue;
        const Task task = with_shots(load_task(name, config.base_folder), found->shots);
        if (task_sha256(task) != found->sha256)
            notes.push_back(fmt::format("Task {} or its records have changed since the trial.", name));
    }
}

// batch_of(model, the trial's micro-batch): samples of the model's length for which memory is planned.
template <class BatchOf>
TrainedModel load_model(const fs::path& folder, const engine::Backend& backend, bool under_capacity,
                        const BatchOf& batch_of) {
    const Json manifest = engine::read_manifest(folder);
    const engine::SafetensorsFile weights = engine::open_weights(folder, manifest);
    TrainedModel trained;
    trained.config = config_of(manifest, folder);
    trained.config_hash = config_hash(trained.config);
    trained.model_sha256 = manifest.at("sha256").at("model.safetensors").get<std::string>();
    trained.step = manifest.at("counts").at("steps").get<std::int64_t>();
    trained.tokenizer = tokenizer_of(trained.config.data, manifest.at("about"), folder);

    engine::TransformerConfig extents = trainer_config(trained.config).model;
    set_scoring_capacity(extents, under_capacity);
    trained.under_capacity = under_capacity;
    const std::int64_t micro_batch = batch_of(extents, trained.config.train.micro_batch_size);
    const std::int32_t vocab = engine::vocab_of(trained.tokenizer);
    if (vocab > extents.vocab)  // a padded vocabulary has more
        not_one_model(folder, fmt::format("its tokenizer has {} tokens, its model {}", vocab, extents.vocab));
    require_extents(extents, micro_batch, folder, weights);
    engine::require_backend(backend, extents.head_size());
    trained.arena = std::make_unique<engine::Arena>(backend.device);
    trained.model = engine::plan_and_commit(*trained.arena, [&](engine::Arena& arena) {
        return std::make_unique<engine::Transformer>(arena, extents, backend, micro_batch, engine::Purpose::inference);
    });
    trained.backend = backend;
    trained.exec = engine::make_exec(backend, *trained.arena);
    engine::load_weights(trained.exec, *trained.model, weights);
    return trained;
}

}  // namespace

TrainedModel load_trained_model(const fs::path& folder, const engine::Backend& backend, bool under_capacity) {
    return load_model(folder, backend, under_capacity,
                      [](const engine::TransformerConfig&, std::int64_t micro_batch) { return micro_batch; });
}

TrainedModel load_generator(const fs::path& folder, const engine::Backend& backend, std::int64_t samples) {
    return load_model(folder, backend, false, [&](const engine::TransformerConfig& model, std::int64_t) {
        engine::require_generates(model);
        return engine::planned_batch(model, samples);
    });
}

const engine::Tokenizer& text_tokenizer(const TrainedModel& trained) {
    const auto* tokenizer = std::get_if<engine::Tokenizer>(&trained.tokenizer);
    if (tokenizer == nullptr)
        throw Error(ErrorKind::config,
                    engine::has_tokens(trained.tokenizer)
                        ? "tasks ask a model to continue text, and this one trained on BERT samples or labelled texts"
                        : "tasks ask a model to continue text, and this one trained on images",
                    "name the checkpoint of a trial on packed samples");
    return *tokenizer;
}

TrialConfig checkpoint_config(const fs::path& folder) {
    return config_of(engine::read_manifest(folder), folder);
}

namespace {

std::string key_of(const Task& task, std::int64_t shots, std::int64_t documents, const TrainedModel& trained) {
    return score_key(task_sha256(with_shots(task, shots)), shots, documents,
                     trained.under_capacity ? trained.config.train.micro_batch_size : 0);
}

}  // namespace

CheckpointEvaluation evaluate_checkpoint(TrainedModel& trained, std::vector<std::string> tasks,
                                         const std::vector<std::int64_t>& shots,
                                         std::optional<std::int64_t> documents) {
    const TrialConfig& config = trained.config;
    if (tasks.empty()) tasks = config.eval.tasks;
    if (tasks.empty())
        throw Error(ErrorKind::usage, "the trial of this checkpoint had no tasks",
                    "name some, as in --tasks lambada,ptb");
    CheckpointEvaluation evaluation;
    std::vector<Task> all;
    for (const std::string& name : tasks)
        all.push_back(load_task(name, config.base_folder));  // before the first is scored
    for (const Task& task : all) check_first_records(task);
    for (const Task& task : all) {
        const bool is_asked_by_shots = takes_shots(task.kind) && !shots.empty();
        for (const std::int64_t count : is_asked_by_shots ? shots : std::vector<std::int64_t>{task.shots}) {
            const TaskResult result = evaluate_task(
                with_shots(task, count), {text_tokenizer(trained), *trained.model, trained.exec, trained.backend,
                                          config.train.micro_batch_size, documents.value_or(config.eval.documents),
                                          config.data.embedded_seed, config.base_folder, trained.step});
            for (journal::Evaluation score : result.scores) {
                score.score_key = key_of(task, count, documents.value_or(config.eval.documents), trained);
                evaluation.scores.push_back(std::move(score));
            }
            if (!result.note.empty()) evaluation.notes.push_back(fmt::format("Task {}: {}.", task.name, result.note));
        }
    }
    note_changed_tasks(config, tasks, evaluation.notes);
    if (trained.under_capacity)
        evaluation.notes.push_back(
            fmt::format("Scored under training's capacity (eval.capacity = \"reference\"), in "
                        "micro-batches of {}: experts drop what is beyond it.",
                        counted(config.train.micro_batch_size, "sample")));
    return evaluation;
}

}  // namespace deft::experiments
