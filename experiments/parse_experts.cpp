#include "experiments/parse_experts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "experiments/config_fields.h"
#include "experiments/layer_lists.h"
#include "experiments/size_limits.h"

namespace deft::experiments {

namespace {

// N of "every N"; nothing for any other text.
std::optional<std::int64_t> interval_of(const std::string& text) {
    constexpr std::string_view kEveryPrefix = "every ";
    if (!text.starts_with(kEveryPrefix)) return {};
    std::int64_t interval = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + kEveryPrefix.size(), end, interval);
    if (error != std::errc{} || stop != end || interval < 1) return {};
    return interval;
}

// The last layer of each run of `interval` layers.
std::vector<std::int64_t> every(std::int64_t interval, std::int64_t layers_of_model) {
    std::vector<std::int64_t> layers;
    for (std::int64_t layer = interval - 1; layer < layers_of_model; layer += interval) layers.push_back(layer);
    return layers;
}

void read_layers(TableReader& table, std::int64_t layers_of_model, std::vector<std::int64_t>& layers) {
    const ConfigNode* const node = table.optional_node("layers");
    if (node == nullptr) return;
    if (node->kind != ConfigNode::Kind::text) {
        table.optional("layers", layers);
    } else if (const auto interval = interval_of(node->text)) {
        layers = every(*interval, layers_of_model);
        if (layers.empty())
            table.refuse("layers",
                         fmt::format("= \"{}\" selects no layer of model.layers = {}", node->text, layers_of_model),
                         "lower the number, or list the layers");
    } else {
        layers = parse_layer_range(table, node->text);
    }
    if (layers.empty()) table.refuse("layers", "is empty", "name at least one layer, or set enabled = false");
    require_layers(table, layers, layers_of_model);
}

// is_of_all: whether it is a number, which applies to each expert layer.
void read_count(TableReader& table, std::vector<std::int64_t>& count, bool& is_of_all) {
    const ConfigNode* const node = table.optional_node("count");
    if (node == nullptr) return;
    is_of_all = node->kind == ConfigNode::Kind::integer;
    if (is_of_all) {
        std::int64_t of_all = 0;
        table.optional("count", of_all);
        count = {of_all};
    } else {
        table.optional("count", count);
    }
    if (count.empty()) table.refuse("count", "is empty", "set the number of experts, or one number per expert layer");
    for (const std::int64_t experts : count) {
        table.require_at_least("count", experts, std::int64_t{1});
        table.require_at_most("count", experts, kMostExperts);
    }
}

void read_one(TableReader& table, std::int64_t layers_of_model, ExpertLayersConfig& experts, bool& count_is_of_all) {
    read_count(table, experts.count, count_is_of_all);
    read_layers(table, layers_of_model, experts.layers);
    read_table(table, experts);
}

// Repeats a single number for each expert layer.
void spread_count(const TableReader& table, bool count_is_of_all, ExpertLayersConfig& experts) {
    if (experts.count.empty())
        table.refuse("count", "is missing", "set the number of experts, or one number per expert layer");
    if (count_is_of_all) experts.count.resize(experts.layers.size(), experts.count.front());
    if (experts.count.size() != experts.layers.size())
        table.refuse("count",
                     fmt::format("has length {}, but the model has {} expert layers", experts.count.size(),
                                 experts.layers.size()),
                     "set one number for all expert layers, or one per layer");
}

}  // namespace

ExpertLayersConfig parse_experts(const ExpertTables& tables, const std::string& name, std::int64_t layers_of_model) {
    if (tables.of_preset == nullptr && tables.own == nullptr) return {};
    const ConfigNode none;
    TableReader preset(tables.of_preset != nullptr ? *tables.of_preset : none, name);
    TableReader own(tables.own != nullptr ? *tables.own : none, name);
    bool enabled = true;
    preset.optional("enabled", enabled);
    own.optional("enabled", enabled);
    ExpertLayersConfig experts;
    experts.layers = every(2, layers_of_model);
    bool count_is_of_all = false;
    read_one(preset, layers_of_model, experts, count_is_of_all);
    read_one(own, layers_of_model, experts, count_is_of_all);
    if (!enabled) return {};
    if (experts.layers.empty())
        own.refuse("layers", "is missing, and the default, every second layer, selects none of one layer",
                   "set layers = [0]");
    spread_count(own, count_is_of_all, experts);
    const std::int64_t fewest = *std::min_element(experts.count.begin(), experts.count.end());
    if (experts.top > fewest)
        own.refuse("top", fmt::format("is {}, but a layer has {} experts", experts.top, fewest),
                   "lower it, or raise model.experts.count");
    if (experts.top > 2 && experts.capacity_factor > 0)
        own.refuse("capacity_factor",
                   fmt::format("requires top-1 or top-2 routing, but model.experts.top is {}", experts.top),
                   "set it to 0 to drop no tokens");
    return experts;
}

}  // namespace deft::experiments
