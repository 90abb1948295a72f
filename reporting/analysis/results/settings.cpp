#include "reporting/analysis/results/settings.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace deft::reporting {

namespace {

// Tables of a trial without techniques. Each further one is a technique's, so that a new technique needs no entry here.
constexpr std::string_view kPlainTables[] = {"data", "eval", "local", "model", "selection", "start", "train"};

bool is_technique(const std::string& key, const Json& table) {
    return table.is_object() && std::ranges::find(kPlainTables, key) == std::end(kPlainTables);
}

std::string text_at(const Json& json, const std::string& keys, const std::string& otherwise = {}) {
    const Json value = value_at(json, keys);
    return value.is_string() ? value.get<std::string>() : otherwise;
}

std::vector<std::int64_t> dropping_layers(const Json& json) {
    std::vector<std::int64_t> layers;
    for (const auto& [key, table] : json.items()) {
        if (!is_technique(key, table) || !table.contains("layers") || !table.at("layers").is_array()) continue;
        for (const Json& layer : table.at("layers"))
            if (layer.is_number_integer()) layers.push_back(layer.get<std::int64_t>());
    }
    return layers;
}

bool keeps_a_constant_number(const Json& json) {
    return std::any_of(json.begin(), json.end(), [](const Json& table) {
        if (!table.is_object() || !table.contains("keep_first")) return false;  // not of a token dropper
        const Json pacing = table.value("pacing", Json()), least = table.value("min", Json());
        return pacing == Json("constant") || (least.is_number() && least == table.value("max", Json()));
    });
}

}  // namespace

Json value_at(const Json& config, const std::string& keys) {
    const Json* value = &config;
    for (std::size_t at = 0; at <= keys.size();) {
        const std::size_t end = std::min(keys.find('.', at), keys.size());
        const std::string key = keys.substr(at, end - at);
        if (!value->is_object() || !value->contains(key)) return nullptr;
        value = &(*value)[key];
        at = end + 1;
    }
    return *value;
}

std::optional<std::int64_t> integer_at(const Json& json, const std::string& keys) {
    const Json value = value_at(json, keys);
    return value.is_number_integer() ? std::optional(value.get<std::int64_t>()) : std::nullopt;
}

Settings parse_settings(const std::string& config_json) {
    return settings_of(std::make_shared<const Json>(try_parse_json(config_json)));
}

Settings settings_of(std::shared_ptr<const Json> config) {
    Settings settings;
    settings.json = std::move(config);
    const Json& json = *settings.json;
    if (!json.is_object()) return settings;
    settings.result_epoch = integer_at(json, "result_epoch");
    settings.layers = integer_at(json, "model.layers");
    settings.seqlen = integer_at(json, "model.seqlen");
    settings.has_experts = !value_at(json, "model.experts").is_null();
    settings.corpus = text_at(json, "data.corpus");
    settings.base_folder = text_at(json, "local.base_folder");
    settings.samples = text_at(json, "data.samples", settings.samples);
    settings.truncates_labels = value_at(json, "data.labelled.truncate_labels") == Json(true);
    settings.whole_batches = integer_at(json, "data.labelled.whole_batches").value_or(0);
    settings.has_start = json.contains("start");
    settings.start_trial = text_at(json, "start.trial");
    const Json rate = value_at(json, "train.learning_rate");
    if (rate.is_number()) settings.learning_rate = rate.get<double>();
    settings.selects_best = json.contains("selection");
    for (const auto& [key, table] : json.items()) settings.is_plain &= !is_technique(key, table);
    settings.dropping_layers = dropping_layers(json);
    settings.keeps_a_constant_number = keeps_a_constant_number(json);
    return settings;
}

}  // namespace deft::reporting
