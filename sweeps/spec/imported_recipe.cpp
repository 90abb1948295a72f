#include "sweeps/spec/imported_recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/fields.h"
#include "base/json.h"
#include "engine/train/foreign_weights.h"
#include "experiments/config_fields.h"
#include "experiments/model_kinds.h"
#include "sweeps/spec/sweep_keys.h"

namespace deft::sweeps {

namespace {

using Kind = ConfigNode::Kind;

// Keys of [train], beside the budget.
const std::vector<std::string_view>& computing_keys() {
    static const std::vector<std::string_view> keys = {"batch_size", "micro_batch_size", "dtype"};
    return keys;
}

bool is_computing(std::string_view key) {
    return std::find(computing_keys().begin(), computing_keys().end(), key) != computing_keys().end();
}

// The text of start.from; null where it is none.
const ConfigNode* start_of(const ConfigNode& trial) {
    const ConfigNode* start = trial.find("start");
    const ConfigNode* from = start == nullptr ? nullptr : start->find("from");
    return from != nullptr && from->kind == Kind::text && !from->text.empty() ? from : nullptr;
}

// Keys that an imported recipe cannot have: settings of a training, or of a model that is given, would be without
// effect.
void refuse_idle_keys(const ConfigNode& own) {
    if (const ConfigNode* model = own.find("model"); model != nullptr && model->kind == Kind::table)
        for (const auto& [key, value] : model->children)
            if (key != "seqlen")
                throw Error(
                    ErrorKind::config, value.place,
                    fmt::format("model.{} has no effect: this recipe imports its model without training it", key),
                    "drop the key; only model.seqlen may be set, to read fewer positions");
    if (const ConfigNode* train = own.find("train"); train != nullptr && train->kind == Kind::table)
        for (const auto& [key, value] : train->children)
            if (key != "budget_tokens" && !is_computing(key))
                throw Error(ErrorKind::config, value.place,
                            fmt::format("train.{} has no effect with train.budget_tokens = 0", key), "drop the key");
}

// model.seqlen of the recipe itself; null: it has none.
const ConfigNode* own_seqlen(const ConfigNode* own) {
    const ConfigNode* model = own == nullptr ? nullptr : own->find("model");
    return model == nullptr ? nullptr : model->find("seqlen");
}

experiments::ModelConfig model_of_files(const ConfigNode& from, const std::filesystem::path& base_folder) {
    const std::filesystem::path path = base_folder / from.text;
    if (!std::filesystem::exists(path))
        throw Error(
            ErrorKind::config, from.place, fmt::format("{} does not exist", path.string()),
            "name a Hugging Face folder, a deft checkpoint or an llm.c file; deft reads the model's shape from it",
            "nothing was planned");
    const engine::ImportedModel files = engine::open_model(path);
    try {
        return experiments::model_config(files.config);
    } catch (const Error& error) {
        throw Error(ErrorKind::config, from.place, fmt::format("{}: {}", from.text, error.what()),
                    "name a model whose architecture deft supports", "nothing was planned");
    }
}

}  // namespace

bool is_imported(const ConfigNode& trial) {
    const ConfigNode* train = trial.find("train");
    const ConfigNode* budget = train == nullptr ? nullptr : train->find("budget_tokens");
    return budget != nullptr && budget->kind == Kind::integer && budget->integer == 0 && start_of(trial) != nullptr;
}

bool concerns_imported(const std::string& path) {
    const std::string table = path.substr(0, path.find('.'));
    if (table == "train") return path == "train.micro_batch_size" || path == "train.dtype";
    return table != "model" && !is_technique(table);
}

void take_model_of_files(ConfigNode& trial, const ConfigNode* own, const std::filesystem::path& base_folder) {
    if (own != nullptr) refuse_idle_keys(*own);
    const ConfigNode& from = *start_of(trial);
    const experiments::ModelConfig model = model_of_files(from, base_folder);
    ConfigNode table = deft::from_json(fields_json(model), from.place);
    table.set("kind", deft::from_json(Json(model.kind), from.place));
    if (const ConfigNode* seqlen = own_seqlen(own)) {
        if (seqlen->kind == Kind::integer && seqlen->integer > model.seqlen)
            throw Error(
                ErrorKind::config, seqlen->place,
                fmt::format("model.seqlen is {}, but {} has {} positions", seqlen->integer, from.text, model.seqlen),
                "lower it, or drop the key");
        table.set("seqlen", *seqlen);
    }
    ConfigNode budget = *trial.find("train")->find("budget_tokens");
    ConfigNode train;
    train.place = trial.find("train")->place;
    for (const auto& [key, value] : trial.find("train")->children)
        if (is_computing(key)) train.set(key, value);
    train.set("budget_tokens", std::move(budget));
    trial.set("train", std::move(train));
    trial.set("model", std::move(table));
}

}  // namespace deft::sweeps
