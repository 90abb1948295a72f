#include "engine/train/debug_state.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <stdexcept>
#include <vector>

#include "base/error.h"
#include "base/json.h"

#include "engine/io/safetensors.h"
#include "engine/models/parts_json.h"
#include "engine/train/padded_rows.h"

namespace deft::engine {

namespace {

// The settings of each layer's experts that decide a step and are not part of a model: null of a dense layer.
Json expert_settings(const TransformerConfig& model) {
    Json layers = Json::array();
    for (const BlockConfig& block : model.blocks) {
        if (!block.experts) {
            layers.push_back(nullptr);
            continue;
        }
        layers.push_back({{"capacity_factor", block.experts->capacity_factor},
                          {"min_capacity", block.experts->min_capacity},
                          {"aux_weight", block.experts->aux_weight},
                          {"z_weight", block.experts->z_weight}});
    }
    return layers;
}

// While training.
bool draws_at_random(const ExpertsConfig& experts) {
    const bool selects = experts.capacity_factor > 0 && experts.random_token_selection;
    return experts.jitter > 0 || experts.sampled_noise || selects;
}

std::map<std::string, std::string> describe(const Trainer& trainer, const StepResult& result) {
    const TrainerConfig& c = trainer.config();
    return {{"step", fmt::format("{}", trainer.counts().steps + 1)},
            {"mean_loss", fmt::format("{}", result.loss)},
            {"lr", fmt::format("{}", result.lr)},
            {"optimizer", c.optimizer.kind == OptimizerKind::adamw ? "adamw" : "sgd"},
            {"momentum", fmt::format("{}", c.optimizer.momentum)},
            {"beta1", fmt::format("{}", c.optimizer.beta1)},
            {"beta2", fmt::format("{}", c.optimizer.beta2)},
            {"eps", fmt::format("{}", c.optimizer.eps)},
            {"weight_decay", fmt::format("{}", c.optimizer.weight_decay)},
            {"max_grad_norm", fmt::format("{}", c.optimizer.max_grad_norm)},
            {"model", parts_json(c.model).dump()},
            {"layers", fmt::format("{}", c.model.layers())},
            {"experts", expert_settings(c.model).dump()},
            {"kept_set_of_layer", fmt::format("{}", fmt::join(trainer.kept().set_of_layer, ","))}};
}

// The first B of images (max_batch, height, width, channels).
Tensor first_samples(const Tensor& images, std::int64_t B) {
    return images.view({B, images.dim(1), images.dim(2), images.dim(3)});
}

// Tensors of the last micro-batch as samples in rows of their own, (B, T, ...): packed ones are unpacked, in memory
// that this keeps.
struct RowsOfSamples {
    const Transformer& model;
    std::deque<PaddedRows> made = {};

    Tensor operator()(const Tensor& rows, std::int32_t padding = 0) {
        return model.packed() ? made.emplace_back(padded_rows(rows, model.packed(), padding)).tensor : rows;
    }
    Tensor kept_index(const KeptTokens& kept) {
        return model.packed() ? made.emplace_back(padded_kept_index(kept, model.packed())).tensor : kept.index;
    }
};

// The experts that the real rows of the last pass chose, in the order of rows: (rows, k).
std::vector<std::int32_t> choices_of_rows(const Experts& experts) {
    const auto* const choice = experts.choices().as<std::int32_t>();
    const std::int64_t k = experts.config().top, rows = experts.chosen().as<std::int32_t>()[experts.config().count];
    std::vector<std::int32_t> choices;
    for (std::int64_t n = 0; static_cast<std::int64_t>(choices.size()) < rows * k; ++n)
        if (choice[n * k] >= 0) choices.insert(choices.end(), choice + n * k, choice + (n + 1) * k);
    return choices;
}

void write_from_host(const std::vector<NamedTensor>& tensors, SafetensorsOutput& to) {
    for (const auto& [name, tensor] : tensors) to.write(tensor.data, tensor.bytes());
}

}  // namespace

void require_checkable(const TransformerConfig& model) {
    const BlockConfig& first = model.blocks.front();
    if (std::any_of(model.blocks.begin(), model.blocks.end(),
                    [](const BlockConfig& block) { return block.experts && draws_at_random(*block.experts); }))
        throw Error(ErrorKind::config,
                    "a debug state can be checked where nothing is drawn at random, and this model's experts draw",
                    "set jitter to 0, and sampled_noise and random_token_selection to false, in [model.experts]",
                    "no file was written");
    const bool head_drops = model.class_head && model.class_head->dropout > 0;
    if (model.input.dropout > 0 || first.dropout > 0 || first.attention.dropout > 0 || head_drops)
        throw Error(ErrorKind::config,
                    "a debug state can be checked where nothing is drawn at random, and this model has dropout",
                    "set model.dropout, model.attention_dropout, model.input_dropout and model.head_dropout to 0",
                    "no file was written");
}

void write_debug_state(Trainer& trainer, const std::filesystem::path& file) {
    const TrainerConfig& config = trainer.config();
    const StepPlan plan = plan_step(config, trainer.counts().steps);
    require_checkable(config.model);
    if (plan.rows > rows_at_once(config, plan.seqlen))
        throw std::logic_error("a debug state needs the whole batch in one micro-batch");
    const StepResult result = trainer.accumulate_gradients();  // changes no weight and no moment
    Transformer& model = trainer.model();
    const ParameterTable& table = model.parameters();
    const std::int64_t B = result.plan.rows, T = result.plan.seqlen, V = config.model.vocab;
    RowsOfSamples of_samples{model};
    double norm = result.grad_norm;

    std::vector<NamedTensor> before, updated;
    for (const Parameter& p : table.all()) {
        before.push_back({"weights." + p.name, p.value});
        const Tensor v = table.second_moment(p);
        before.push_back({(v ? "adam_m." : "momentum.") + p.name, table.first_moment(p)});
        if (v) before.push_back({"adam_v." + p.name, v});
    }
    if (model.token) before.push_back({"batch.token", of_samples(model.loaded(model.token))});
    if (model.image) before.push_back({"batch.image", first_samples(model.image, B)});
    std::vector<float> logits_values;
    if (config.model.head) {
        logits_values.resize(static_cast<std::size_t>(B * T * V));
        const Tensor loaded = model.loaded(model.target);
        const Tensor logits = make_tensor(logits_values.data(), DType::f32, {loaded.dim(0), loaded.dim(1), V});
        model.logits(trainer.exec(), logits, B, T);
        before.push_back({"batch.target", of_samples(loaded, kernels::kIgnoreTarget)});
        before.push_back({"logits", of_samples(logits)});
        before.push_back({"loss", of_samples(model.loaded(model.loss))});
    }
    if (model.length()) before.push_back({"batch.length", model.length()});
    if (model.segment) before.push_back({"batch.segment", of_samples(model.loaded(model.segment))});
    std::vector<float> class_values;
    if (model.class_target) {
        const std::int64_t classes = config.model.class_head->classes;
        class_values.resize(static_cast<std::size_t>(B * classes));
        const Tensor class_logits = make_tensor(class_values.data(), DType::f32, {B, classes});
        model.class_logits(trainer.exec(), class_logits);
        before.push_back({"batch.class_target", model.class_target.view({B})});
        before.push_back({"class_logits", class_logits});
        before.push_back({"class_loss", model.class_loss.view({B})});
    }
    if (model.value_target) {
        before.push_back({"batch.value_target", model.value_target.view({B})});
        before.push_back({"value", model.value.view({B})});
        before.push_back({"class_loss", model.class_loss.view({B})});
    }
    if (trainer.kept().index) before.push_back({"kept.index", of_samples.kept_index(trainer.kept())});
    std::deque<std::vector<std::int32_t>> choices;
    for (std::size_t layer = 0; layer < model.blocks().size(); ++layer) {
        const Experts* const experts = model.blocks()[layer].experts();
        if (experts == nullptr) continue;
        std::vector<std::int32_t>& of_layer = choices.emplace_back(choices_of_rows(*experts));
        const std::int64_t k = experts->config().top, rows = static_cast<std::int64_t>(of_layer.size()) / k;
        before.push_back({fmt::format("experts.{}", layer), make_tensor(of_layer.data(), DType::i32, {rows, k})});
    }
    if (const Tensor state = trainer.dropper_state()) before.push_back({"router_state", state});
    for (const Parameter& p : table.all()) before.push_back({"grad." + p.name, p.grad});
    before.push_back({"grad_norm", make_tensor(&norm, DType::f64, {1})});
    for (const Parameter& p : table.all()) updated.push_back({"updated." + p.name, p.value});

    std::vector<NamedTensor> all = before;
    all.insert(all.end(), updated.begin(), updated.end());
    SafetensorsOutput out(file, all, describe(trainer, result));
    write_from_host(before, out);
    trainer.update();  // the weights that are written already become the updated ones
    write_from_host(updated, out);
    out.finish();
}

}  // namespace deft::engine
