#include "experiments/model_presets.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "base/files.h"
#include "base/installed_files.h"
#include "base/json.h"
#include "base/suggestion.h"
#include "base/table_reader.h"
#include "experiments/model_kinds.h"
#include "experiments/parse_model.h"

namespace deft::experiments {

namespace {

constexpr const char* kTraining = "training";  // the table of a preset's file that is not part of [model]

std::filesystem::path presets_folder() {
    return installed_file("experiments/presets");
}

ConfigNode parse_preset_file(const std::string& name) {
    const std::filesystem::path file = presets_folder() / (name + ".toml");
    return parse_toml(read_file(file), file.string());
}

}  // namespace

std::vector<std::string> model_presets() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(presets_folder()))
        if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
    std::sort(names.begin(), names.end());
    return names;
}

ConfigNode load_model_preset(const std::string& name) {
    const std::vector<std::string> known = model_presets();
    if (std::find(known.begin(), known.end(), name) == known.end())
        throw std::logic_error("unknown model preset: " + name);
    ConfigNode preset = parse_preset_file(name);
    preset.erase(kTraining);
    return preset;
}

PresetTraining preset_training(const std::string& name) {
    const std::vector<std::string> known = model_presets();
    if (std::find(known.begin(), known.end(), name) == known.end())
        throw Error(ErrorKind::config, fmt::format("unknown model preset \"{}\"", name), suggestion(name, known));
    const ConfigNode file = parse_preset_file(name);
    const ConfigNode* node = file.find(kTraining);
    PresetTraining training;
    if (node == nullptr) return training;
    TableReader table(*node, kTraining);
    table.optional("vocab", training.vocab);
    table.optional("tokens", training.tokens);
    if (training.tokens != 0) training.source = table.required_text("source");
    table.finish();
    table.require_at_least("vocab", training.vocab, 0);
    table.require_at_least("tokens", training.tokens, 0);
    return training;
}

engine::TransformerConfig preset_model(const std::string& name, std::int64_t vocab) {
    const ConfigNode preset = parse_toml("preset = " + Json(name).dump(), "the preset");
    DataConfig data;
    const std::vector<std::string> known = model_presets();
    const bool is_known = std::find(known.begin(), known.end(), name) != known.end();
    if (is_known) data.samples = samples_of_kind(load_model_preset(name).find("kind")->text);
    ModelConfig model = parse_model(TableReader(preset, "model"), data);
    model.dropout = model.attention_dropout = model.input_dropout = 0;
    engine::TransformerConfig config = transformer_config(model, vocab);
    if (data.samples == SampleKind::bert) config.head->target_share = data.bert.mask_fraction;
    return config;
}

}  // namespace deft::experiments
