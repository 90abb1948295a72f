#include "experiments/parse_techniques.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/suggestion.h"
#include "engine/data/bert/samples.h"
#include "engine/data_efficiency/sampling/metric.h"
#include "experiments/config_fields.h"
#include "experiments/layer_lists.h"
#include "experiments/size_limits.h"

namespace deft::experiments {

namespace {

bool is_enabled(TableReader& table) {
    bool enabled = true;
    table.optional("enabled", enabled);
    return enabled;
}

bool by_length(const std::string& metric) {
    return metric == "seqtru" || metric == "seqres";
}

// Tables that mean a curriculum of such samples; a table with a `column` may have any other name.
std::vector<std::string> known_metrics(const DataConfig& data) {
    if (sample_kind(data) == SampleKind::images) return {};
    if (sample_kind(data) == SampleKind::bert) return {"seqtru", "seqreo", "voc", "voc_per_token", "seqreo_voc"};
    return {"seqtru", "seqres", "voc", "voc_per_token"};
}

// Refuses metrics that do not apply to packed samples.
void refuse_for_packed(const TableReader& curriculum, const char* key) {
    const std::string name = key;
    if (name == "seqreo" || name == "seqlen" || name == "seqreo_voc")
        curriculum.refuse(key, "orders samples by length, but packed samples all have the same length",
                          "use seqtru or seqres, with voc to compose them, or data.samples = \"bert\"");
}

// The same for BERT's.
void refuse_for_bert(const TableReader& curriculum, const char* key) {
    const std::string name = key;
    if (name == "seqres" || name == "seqres_voc")
        curriculum.refuse(
            key, "concatenates and splits samples, but a BERT sample cannot be split across its special tokens",
            "use seqtru, which cuts each segment before its [SEP], or data.samples = \"packed\"");
    if (name == "seqlen") curriculum.refuse(key, "is written as seqreo in a curriculum", "write [curriculum.seqreo]");
}

// For images, only a column can define difficulty.
void refuse_for_images(const TableReader& curriculum, const char* key) {
    const std::string name = key;
    if (by_length(name) || name == "seqreo" || name == "seqreo_voc" || name == "seqlen")
        curriculum.refuse(key, "requires samples of different lengths, but images all have the same length",
                          "order them by a column of your own, as in [curriculum.mine] with column = \"FILE.npy\"");
    if (name.starts_with("voc"))
        curriculum.refuse(key, "measures the rarity of words, but images have no words",
                          "order them by a column of your own, as in [curriculum.mine] with column = \"FILE.npy\"");
}

void refuse_foreign_metric(const TableReader& curriculum, const std::string& name, const DataConfig& data) {
    const char* key = name.c_str();
    if (sample_kind(data) == SampleKind::images) return refuse_for_images(curriculum, key);
    (sample_kind(data) == SampleKind::bert ? refuse_for_bert : refuse_for_packed)(curriculum, key);
    if (name == "seqtru_voc" || name == "seqres_voc")
        curriculum.refuse(key, "is a composition of two metrics, each with its own table",
                          fmt::format("write [curriculum.{}] and [curriculum.voc]", name.substr(0, 6)));
}

// Metrics that each are a whole choice of the length of a step's samples, or of their order.
void refuse_pairings(const TableReader& table, const CurriculumConfig& curriculum) {
    const auto both = [&](const char* one, const char* other) {
        return curriculum.find(one) != nullptr && curriculum.find(other) != nullptr;
    };
    if (both("seqtru", "seqres"))
        table.refuse("seqres", "and seqtru both set the length of a step", "keep one of them");
    for (const char* order : {"seqreo", "seqreo_voc"})
        if (both(order, "seqtru"))
            table.refuse(order, "and seqtru both begin with short samples, one by order and one by truncation",
                         "keep one of them");
    if (both("seqreo_voc", "seqreo")) table.refuse("seqreo", "is already part of seqreo_voc", "keep one of them");
    for (const char* rarity : {"voc", "voc_per_token"}) {
        if (both("seqreo_voc", rarity))
            table.refuse(rarity, "orders by rarity, which seqreo_voc already does", "keep one of them");
        if (both("seqreo", rarity))
            table.refuse(rarity, "and seqreo both order the samples",
                         "write [curriculum.seqreo_voc], which orders by length and then by rarity");
    }
}

GrowthRange growth_range(const CurriculumMetric& metric, const ModelConfig& model) {
    if (by_length(metric.metric)) return {model.seqlen, "model.seqlen"};
    if (metric.difficulty == "percentile") return {100, "the hundredth percentile"};
    return {std::numeric_limits<std::int64_t>::max() / 2, "the largest integer", true};
}

CurriculumMetric parse_metric(TableReader table, const std::string& name, const ModelConfig& model,
                              const DataConfig& data) {
    CurriculumMetric metric;
    metric.metric = name;
    metric.growth.min = metric.growth.multiple = by_length(name) ? 8 : 1;
    metric.difficulty = by_length(name) ? "value" : "percentile";
    read_table(table, metric);
    if (by_length(name) && metric.difficulty != "value")
        table.refuse("difficulty",
                     fmt::format("is \"percentile\", but {} truncates to a length, which is a value", name));
    parse_growth(table, metric.growth, growth_range(metric, model));
    if (by_length(name) && sample_kind(data) == SampleKind::bert)
        table.require_at_least(metric.growth.points.empty() ? "min" : "points", metric.growth.min,
                               engine::SampleShape{.pairs = data.bert.pairs}.shortest_cut());
    if (by_length(name) && metric.growth.max < model.seqlen)
        table.refuse(
            metric.growth.points.empty() ? "max" : "points",
            fmt::format("ends at {}: the model would never see its full length of {}", metric.growth.max, model.seqlen),
            "end at model.seqlen, or lower model.seqlen");
    return metric;
}

void parse_layers(TableReader& table, const ModelConfig& model, std::vector<std::int64_t>& layers,
                  const std::vector<std::int32_t>& by_default) {
    const ConfigNode* node = table.optional_node("layers");
    if (node == nullptr) {
        if (by_default.empty() || model.layers < 3)
            table.refuse("enabled",
                         fmt::format("needs layers between the first and the last; model.layers is {}", model.layers),
                         "give the model at least three layers, name the layers, or set enabled = false");
        layers.assign(by_default.begin(), by_default.end());
        return;
    }
    if (node->kind == ConfigNode::Kind::text)
        layers = parse_layer_range(table, node->text);
    else
        table.optional("layers", layers);
    if (layers.empty()) table.refuse("layers", "is empty", "name at least one layer, or set enabled = false");
    require_layers(table, layers, model.layers);
}

// A key that is neither a built-in metric nor one with a column.
void refuse_unknown_metric(TableReader& curriculum, const std::string& name, const std::vector<std::string>& built_in) {
    const ConfigNode* node = curriculum.optional_node(name.c_str());
    if (node->kind == ConfigNode::Kind::table)
        for (const auto& [key, child] : node->children)
            if (did_you_mean(key, {"column"}) == "column")
                throw Error(ErrorKind::config, child.place,
                            fmt::format("unknown key {}.{}", curriculum.name(name.c_str()), key),
                            "did you mean column?");
    curriculum.refuse(
        name.c_str(), "is neither a built-in metric nor one with a column",
        suggestion(name, built_in,
                   fmt::format("add column = \"FILE.npy\" for a metric of your own{}{}",
                               built_in.empty() ? "" : "; built-in metrics: ", fmt::join(built_in, ", "))));
}

}  // namespace

bool is_reserved_metric(const std::string& name) {
    constexpr std::array names = {"seqtru", "seqres", "seqreo", "seqtru_voc", "seqres_voc"};
    return engine::is_built_in_metric(name) || std::find(names.begin(), names.end(), name) != names.end();
}

std::optional<CurriculumConfig> parse_curriculum(TableReader table, const ModelConfig& model, const DataConfig& data) {
    if (!is_enabled(table)) return {};
    CurriculumConfig curriculum;
    std::vector<std::string> names = known_metrics(data);
    for (const std::string& key : table.keys())
        if (table.has(key.c_str(), "column")) {
            if (is_reserved_metric(key))
                table.refuse(key.c_str(), "names a built-in metric, but has a column of your own",
                             "give the column another name, as in [curriculum.mine]");
            names.push_back(key);
        }
    for (const std::string& key : table.keys())
        if (key != "enabled" && std::find(names.begin(), names.end(), key) == names.end()) {
            refuse_foreign_metric(table, key, data);
            refuse_unknown_metric(table, key, known_metrics(data));
        }
    std::sort(names.begin(), names.end());
    for (const std::string& name : names)
        if (const ConfigNode* node = table.optional_node(name.c_str())) {
            TableReader metric(*node, table.name(name.c_str()));
            if (is_enabled(metric)) curriculum.metrics.push_back(parse_metric(metric, name, model, data));
        }
    table.finish();
    if (curriculum.metrics.empty() && sample_kind(data) == SampleKind::images)
        table.refuse("enabled", "has no metric: images are ordered by a column of your own",
                     "add a table such as [case.curriculum.mine] with column = \"FILE.npy\", or enabled = false");
    if (curriculum.metrics.empty())
        table.refuse("enabled", fmt::format("has no metric: add one of {}", fmt::join(known_metrics(data), ", ")),
                     "add a table such as [case.curriculum.seqtru], or enabled = false");
    refuse_pairings(table, curriculum);
    return curriculum;
}

std::optional<TokenDroppingConfig> parse_token_dropping(TableReader table, const engine::TokenDropper& dropper,
                                                        const ModelConfig& model) {
    if (!is_enabled(table)) return {};
    TokenDroppingConfig dropping;
    dropping.dropper = dropper.name;
    dropping.settings = dropper.new_settings();
    if (dropper.reads_tokens && model.patch > 0)
        table.refuse("enabled", "selects tokens by word, but images have no words",
                     "use random_ltd, or set enabled = false");
    const bool predicts_labels = model.patch == 0 && (model.classes > 0 || model.value_head);
    if (dropper.reads_tokens && predicts_labels)
        table.refuse("enabled", "learns from token losses, but labelled texts have none",
                     "use random_ltd, or set enabled = false");
    // The first token's row is read for the whole sample.
    const bool reads_first = model.order_head || predicts_labels || (model.patch > 0 && model.pooling == "first");
    dropping.keep_first = reads_first ? 1 : 0;
    read_table(table, dropping);
    parse_growth(table, dropping.growth, {model.seqlen, "model.seqlen"});
    parse_layers(table, model, dropping.layers, dropper.default_layers(model.layers));
    const Growth& kept = dropping.growth;
    if (dropping.keep_first > kept.min)
        table.refuse("keep_first", fmt::format("is {}, above min = {}", dropping.keep_first, kept.min));
    if (kept.min < kept.max && kept.max < model.seqlen)
        table.refuse(kept.points.empty() ? "max" : "points",
                     fmt::format("ends at {}: the layers would never see all {} tokens", kept.max, model.seqlen),
                     "end at model.seqlen, or keep a constant number: pacing = \"constant\"");
    const std::int64_t first = dropping.layers.front(), last = dropping.layers.back();
    if (dropper.one_set && last - first + 1 != static_cast<std::int64_t>(dropping.layers.size()))
        table.refuse("layers", "must be consecutive: dropped tokens skip all of them",
                     fmt::format("name a range, such as \"{}-{}\"", first, last));
    return dropping;
}

std::optional<BatchRampConfig> parse_batch_ramp(TableReader table, const TrainConfig& train) {
    if (!is_enabled(table)) return {};
    BatchRampConfig ramp;
    read_table(table, ramp);
    parse_growth(table, ramp.growth, {train.batch_size, "train.batch_size"});
    if (ramp.growth.max != train.batch_size)
        table.refuse("max",
                     fmt::format("is {}, but a ramp ends at train.batch_size = {}", ramp.growth.max, train.batch_size));
    return ramp;
}

std::optional<VariableBatchConfig> parse_variable_batch(TableReader table, const ModelConfig& model,
                                                        const TrainConfig& train) {
    if (!is_enabled(table)) return {};
    VariableBatchConfig batch;
    batch.max_tokens = train.batch_size * model.seqlen;
    read_table(table, batch);
    table.require_at_least("max_tokens", batch.max_tokens, model.seqlen);
    table.require_at_most("max_tokens", batch.max_tokens, kMostBatchSize * model.seqlen);
    if (batch.max_batch_size > 0 && batch.max_batch_size < batch.min_batch_size)
        table.refuse("max_batch_size",
                     fmt::format("is {}, below min_batch_size = {}", batch.max_batch_size, batch.min_batch_size));
    return batch;
}

}  // namespace deft::experiments
