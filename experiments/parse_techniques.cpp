#include "experiments/parse_techniques.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "base/suggestion.h"
#include "engine/data/bert/samples.h"
#include "engine/data_efficiency/sampling/metric.h"
#include "experiments/config_fields.h"
#include "experiments/curriculum_entries.h"
#include "experiments/layer_lists.h"
#include "experiments/size_limits.h"

namespace deft::experiments {

namespace {

using engine::SampleOrder;

bool is_enabled(TableReader& table) {
    bool enabled = true;
    table.optional("enabled", enabled);
    return enabled;
}

// For images, only a column can define difficulty.
void refuse_for_images(const TableReader& curriculum, const char* key, const CurriculumEntry& entry) {
    const char* const fix = "order them by a column of your own, as in [curriculum.mine] with column = \"FILE.npy\"";
    if (entry.sets_length() || entry.orders(SampleOrder::by_length))
        curriculum.refuse(key, "requires samples of different lengths, but images all have the same length", fix);
    if (entry.orders(SampleOrder::by_words))
        curriculum.refuse(key, "orders samples by their words, but images have no words", fix);
}

// `entry`: also of a name that composes it with another.
void refuse_for_texts(const TableReader& curriculum, const char* key, const CurriculumEntry& entry,
                      SampleKind samples) {
    if (entry.joins_samples && samples == SampleKind::bert)
        curriculum.refuse(
            key, "concatenates and splits samples, but a BERT sample cannot be split across its special tokens",
            "use seqtru, which cuts each segment before its [SEP], or data.samples = \"packed\"");
    if (entry.orders(SampleOrder::by_length) && samples == SampleKind::packed)
        curriculum.refuse(key, "orders samples by length, but packed samples all have the same length",
                          "use seqtru or seqres, with voc to compose them, or data.samples = \"bert\"");
}

// A name that the registry knows, but that no table of such samples can have.
void refuse_foreign_metric(const TableReader& curriculum, const std::string& name, SampleKind samples) {
    const char* const key = name.c_str();
    const CurriculumEntry* named = find_curriculum_entry(name);
    if (named == nullptr) named = find_curriculum_of_measure(name);
    if (samples == SampleKind::images) {
        if (named != nullptr) refuse_for_images(curriculum, key, *named);
    } else {
        const std::optional<Composition> both = composition_of(name);
        if (const CurriculumEntry* entry = both ? both->length : named)
            refuse_for_texts(curriculum, key, *entry, samples);
        if (both)
            curriculum.refuse(key, "is a composition of two metrics, each with its own table",
                              fmt::format("write [curriculum.{}] and [curriculum.{}]", both->length->use.name,
                                          both->order->use.name));
    }
    if (named != nullptr && named->use.name != name)
        curriculum.refuse(key, fmt::format("is written as {} in a curriculum", named->use.name),
                          fmt::format("write [curriculum.{}]", named->use.name));
    if (named != nullptr)
        curriculum.refuse(key, fmt::format("does not apply to data.samples = \"{}\"", name_of(samples)),
                          fmt::format("use one of {}", fmt::join(curriculum_names(samples), ", ")));
}

void refuse_pairings(const TableReader& table, const CurriculumConfig& curriculum) {
    for (const CurriculumEntry& entry : curriculum_entries())
        for (const engine::Exclusion& exclusion : entry.use.excludes)
            if (curriculum.find(entry.use.name) != nullptr && curriculum.find(exclusion.other) != nullptr)
                table.refuse(entry.use.name, exclusion.why, exclusion.fix);
}

GrowthRange growth_range(const CurriculumMetric& metric, const ModelConfig& model) {
    if (!orders_samples(metric)) return {model.seqlen, "model.seqlen"};
    if (metric.difficulty == DifficultyUnit::percentile) return {100, "the hundredth percentile"};
    return {std::numeric_limits<std::int64_t>::max() / 2, "the largest integer", true};
}

CurriculumMetric parse_metric(TableReader table, const std::string& name, const ModelConfig& model,
                              const DataConfig& data) {
    CurriculumMetric metric;
    metric.metric = name;
    metric.entry = find_curriculum_entry(name);
    const bool sets_length = !orders_samples(metric);
    metric.growth.min = metric.growth.multiple = sets_length ? 8 : 1;
    metric.difficulty = sets_length ? DifficultyUnit::value : DifficultyUnit::percentile;
    read_table(table, metric);
    if (sets_length && metric.difficulty != DifficultyUnit::value)
        table.refuse("difficulty",
                     fmt::format("is \"percentile\", but {} truncates to a length, which is a value", name));
    parse_growth(table, metric.growth, growth_range(metric, model));
    if (sets_length && data.samples == SampleKind::bert)
        table.require_at_least(metric.growth.points.empty() ? "min" : "points", metric.growth.min,
                               engine::SampleShape{.pairs = data.bert.pairs}.shortest_cut());
    if (sets_length && metric.growth.max < model.seqlen)
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
    return engine::is_built_in_metric(name) || find_curriculum_entry(name) != nullptr || composition_of(name);
}

std::optional<CurriculumConfig> parse_curriculum(TableReader table, const ModelConfig& model, const DataConfig& data) {
    if (!is_enabled(table)) return {};
    CurriculumConfig curriculum;
    if (data.samples == SampleKind::labelled) return curriculum;  // parse_trial_config() refuses it
    const std::vector<std::string> built_in = curriculum_names(data.samples);
    std::vector<std::string> names = built_in;
    for (const std::string& key : table.keys())
        if (table.has(key.c_str(), "column")) {
            if (is_reserved_metric(key))
                table.refuse(key.c_str(), "names a built-in metric, but has a column of your own",
                             "give the column another name, as in [curriculum.mine]");
            names.push_back(key);
        }
    for (const std::string& key : table.keys())
        if (key != "enabled" && std::find(names.begin(), names.end(), key) == names.end()) {
            refuse_foreign_metric(table, key, data.samples);
            refuse_unknown_metric(table, key, built_in);
        }
    std::sort(names.begin(), names.end());
    for (const std::string& name : names)
        if (const ConfigNode* node = table.optional_node(name.c_str())) {
            TableReader metric(*node, table.name(name.c_str()));
            if (is_enabled(metric)) curriculum.metrics.push_back(parse_metric(metric, name, model, data));
        }
    table.finish();
    if (curriculum.metrics.empty() && data.samples == SampleKind::images)
        table.refuse("enabled", "has no metric: images are ordered by a column of your own",
                     "add a table such as [case.curriculum.mine] with column = \"FILE.npy\", or enabled = false");
    if (curriculum.metrics.empty())
        table.refuse("enabled", fmt::format("has no metric: add one of {}", fmt::join(built_in, ", ")),
                     "add a table such as [case.curriculum.seqtru], or enabled = false");
    refuse_pairings(table, curriculum);
    return curriculum;
}

std::string dropper_of_any_samples() {
    for (const engine::TokenDropper& dropper : engine::token_droppers())
        if (!dropper.reads_tokens) return dropper.name;
    throw std::logic_error("every token dropper reads tokens");
}

std::optional<TokenDroppingConfig> parse_token_dropping(TableReader table, const engine::TokenDropper& dropper,
                                                        const ModelConfig& model) {
    if (!is_enabled(table)) return {};
    TokenDroppingConfig dropping;
    dropping.dropper = &dropper;
    dropping.settings = dropper.new_settings();
    if (dropper.reads_tokens && model.patch > 0)
        table.refuse("enabled", "selects tokens by word, but images have no words",
                     fmt::format("use {}, or set enabled = false", dropper_of_any_samples()));
    const bool predicts_labels = model.patch == 0 && (model.classes > 0 || model.value_head);
    if (dropper.reads_tokens && predicts_labels)
        table.refuse("enabled", "learns from token losses, but labelled texts have none",
                     fmt::format("use {}, or set enabled = false", dropper_of_any_samples()));
    // The first token's row is read for the whole sample.
    const bool reads_first =
        model.order_head || predicts_labels || (model.patch > 0 && model.pooling == kernels::Pooling::first);
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
