#include "engine/models/transformer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "base/error.h"
#include "engine/core/exec.h"
#include "engine/core/workspace.h"
#include "kernels/ceil_div.h"

namespace deft::engine {

namespace {

std::optional<Embedding> embedding(const Planner& plan, const TransformerConfig& config) {
    if (config.input.patches) return {};
    return Embedding(plan, config.vocab, config.max_seqlen, config.width, config.input);
}

std::optional<PatchEmbedding> patch_embedding(const Planner& plan, const TransformerConfig& config) {
    const InputConfig& input = config.input;
    if (!input.patches) return {};
    if (input.segments > 0 || input.norm || config.max_seqlen != input.patches->seqlen())
        throw std::logic_error("a model of images with segments, a norm of its input, or rows that are no patches");
    return PatchEmbedding(plan, config.width, *input.patches, input.positions == Positions::learned, input.dropout);
}

std::optional<Norm> final_norm(const Planner& plan, const TransformerConfig& config) {
    if (!config.final_norm) return {};
    return Norm(plan, "ln_f", "final", config.width, *config.final_norm);
}

std::optional<Head> token_head(const Planner& plan, const std::optional<Embedding>& embedding,
                               const TransformerConfig& config) {
    if (!config.head) return {};
    if (!embedding) throw std::logic_error("a head of tokens without tokens");
    return Head(plan, embedding->tokens(), *config.head);
}

std::optional<ClassHead> class_head(const Planner& plan, const TransformerConfig& config) {
    if (!config.class_head) return {};
    // Behind those of the input and of the two halves of each block.
    return ClassHead(plan, config.width, *config.class_head, 1 + 2 * config.layers());
}

}  // namespace

Transformer::Transformer(Arena& arena, const TransformerConfig& config, const Backend& backend, std::int64_t max_batch,
                         Purpose purpose, Recompute recompute, const KeptMoments& moments, const ModelRanks& ranks)
    : config_(config),
      purpose_(purpose),
      parameters_(arena, backend.dtype, purpose),
      plan_{arena, parameters_, backend, purpose, max_batch, config.max_seqlen, ranks},
      embedding_(embedding(plan_, config)),
      patch_embedding_(patch_embedding(plan_, config)),
      stack_(plan_, config.width, config.blocks, recompute),
      final_norm_(final_norm(plan_, config)),
      head_(token_head(plan_, embedding_, config)),
      class_head_(class_head(plan_, config)),
      states_(plan_.scratch("d_branch", {max_batch, config.max_seqlen, config.width})) {
    const std::int64_t B = max_batch, T = config.max_seqlen;
    evaluation_graphs_.records = ranks.experts.ranks == 1;  // several exchange rows from the host
    parameters_.plan_optimizer(moments, ranks.moments, ranks.divided_moments);
    arena.reserve_workspace(sum_of_squares_workspace(backend, parameters_.flat_gradients().numel()));
    const auto add = [&](const std::string& name, DType type, std::initializer_list<std::int64_t> shape) {
        return arena.add(Region::activations, name, type, shape);
    };
    if (embedding_) {
        token = add("token", DType::i32, {B, T});
        lengths_ = add("length", DType::i32, {B * T});  // rows may be as short as one token
        computed_ = add("packed.computed", DType::i32, {B, T});
        source_ = add("packed.source", DType::i32, {B, T});
        scored_ = add("packed.scored", DType::i32, {B, T});
        position_ = add("packed.position", DType::i32, {B, T});
        start_ = add("packed.start", DType::i32, {B * T + 1});
    }
    if (const auto& images = config.input.patches)
        image = add("image", DType::f32, {B, images->height, images->width, images->channels});
    if (head_) {
        target = add("target", DType::i32, {B, T});
        loss = add("loss", plan_.sums(), {B, T});
        greedy = add("greedy", DType::i32, {B, T});
    }
    if (config.class_head) class_loss = add("class_loss", plan_.sums(), {B});
    if (config.class_head && !is_regression()) {
        class_target = add("class_target", DType::i32, {B});
        class_greedy = add("class_greedy", DType::i32, {B});
    }
    if (is_regression()) {
        value_target = add("value_target", DType::f32, {B});
        value = add("value", plan_.sums(), {B});
    }
    if (config.input.segments > 0) segment = add("segment", DType::i32, {B, T});
    if (purpose == Purpose::training) d_stream_ = add("d_stream", backend.dtype, {B, T, config.width});
}

ModelFlops Transformer::flops() const {
    ModelFlops flops;
    for (const Block& block : stack_.blocks()) flops.blocks.push_back(block.flops());
    flops.rest = embedding_ ? embedding_->flops() : patch_embedding_->flops();
    if (head_) flops.rest = flops.rest + head_->flops();
    if (class_head_) flops.rest = flops.rest + class_head_->flops();
    if (final_norm_) flops.rest = flops.rest + final_norm_->flops();
    return flops;
}

std::int64_t Transformer::active_parameters() const {
    std::int64_t active = parameters_.count();
    for (const Block& block : stack_.blocks())
        if (const Experts* const experts = block.experts())
            active -= (experts->config().count - experts->config().top) * experts->parameters_of_expert();
    return active;
}

void Transformer::require_in_vocabulary(std::span<const std::int32_t> ids, std::int32_t lowest,
                                        const char* what) const {
    const auto bad =
        std::find_if(ids.begin(), ids.end(), [&](std::int32_t id) { return id < lowest || id >= config_.vocab; });
    if (bad != ids.end())
        throw Error(ErrorKind::config,
                    fmt::format("{} {} lies outside the vocabulary of {}", what, *bad, config_.vocab),
                    "tokenise the text with the tokenizer of this model");
}

void Transformer::require_segments(const std::int32_t* segments, std::int64_t positions) const {
    const std::int64_t known = config_.input.segments;
    if (known == 0) return;
    if (segments == nullptr)
        throw Error(ErrorKind::config, fmt::format("a model with {} segments is given none", known),
                    "train and score a model on samples of one kind");
    const auto bad =
        std::find_if(segments, segments + positions, [&](std::int32_t id) { return id < 0 || id >= known; });
    if (bad != segments + positions)
        throw Error(ErrorKind::config, fmt::format("segment {} of a model that has {}", *bad, known),
                    "give each token one of the model's segments");
}

void Transformer::require_classes(const std::int32_t* classes, std::int64_t B) const {
    if (!config_.class_head || is_regression()) return;
    const std::int64_t known = config_.class_head->classes;
    if (classes == nullptr)
        throw Error(ErrorKind::config, fmt::format("a model with {} classes is given none", known),
                    "train and score a model on samples of one kind");
    const auto bad =
        std::find_if(classes, classes + B, [&](std::int32_t id) { return id < kernels::kIgnoreTarget || id >= known; });
    if (bad != classes + B)
        throw Error(ErrorKind::config, fmt::format("class {} of a model with {} classes", *bad, known),
                    "give each sample one of the model's classes");
}

void Transformer::require_values(const float* values, std::int64_t B) const {
    if (!is_regression()) return;
    if (values == nullptr)
        throw Error(ErrorKind::config, "a model with a regression head is given no values",
                    "train and score a model on samples of one kind");
    const auto bad = std::find_if(values, values + B, [](float number) { return !std::isfinite(number); });
    if (bad != values + B)
        throw Error(ErrorKind::config, fmt::format("a sample's value is {}", *bad), "give each sample a number");
}

void Transformer::require_images(const float* images) const {
    const bool has_images = images != nullptr;
    if (has_images == patch_embedding_.has_value()) return;
    throw Error(ErrorKind::config, has_images ? "a model of tokens is given images" : "a model of images is given none",
                "train and score a model on samples of one kind");
}

void Transformer::load_tokens(Exec& exec, const ModelInput& input) {
    const std::int64_t B = input.B, T = input.T, rows = input.rows();
    const auto positions = static_cast<std::size_t>(rows);
    require_in_vocabulary({input.token, positions}, 0, "token");
    if (head_) require_in_vocabulary({input.target, positions}, kernels::kIgnoreTarget, "target");
    for (std::int64_t b = 0; input.length != nullptr && b < B; ++b)
        if (input.length[b] < 0 || input.length[b] > T)
            throw Error(ErrorKind::config, fmt::format("a sample of {} tokens has a length of {}", T, input.length[b]),
                        "give the number of its real tokens");
    require_segments(input.segment, rows);
    if (input.start != nullptr) load_packed(exec, input);
    write_tensor(exec, loaded(token), input.token);
    if (head_) {
        write_tensor(exec, loaded(target), input.target);
        target_rows_ = rows - std::count(input.target, input.target + positions, kernels::kIgnoreTarget);
        if (exec.device != Device::cpu)
            target_rows_ = std::min(rows, kernels::ceil_div(target_rows_, kTargetRows) * kTargetRows);
    }
    if (segment) write_tensor(exec, loaded(segment), input.segment);
    length_ = input.length != nullptr ? lengths_.view({B}) : Tensor{};
    if (length_) write_tensor(exec, length_, input.length);
}

void Transformer::load(Exec& exec, const ModelInput& input) {
    const std::int64_t B = input.B;
    require_images(input.image);
    require_classes(input.class_target, B);
    require_values(input.value_target, B);
    packed_ = {};
    shape_ = {B, input.T};
    if (patch_embedding_)
        write_tensor(exec, loaded_images(B), input.image);
    else
        load_tokens(exec, input);
    if (is_regression()) write_tensor(exec, value_target.view({B}), input.value_target);
    if (class_target) {
        write_tensor(exec, class_target.view({B}), input.class_target);
        class_rows_ = B - std::count(input.class_target, input.class_target + B, kernels::kIgnoreTarget);
    }
}

void Transformer::load_packed(Exec& exec, const ModelInput& input) {
    const std::int64_t M = input.rows();
    shape_ = {1, M};
    packed_.position = position_.view({1, M});
    packed_.samples = {start_.view({input.B + 1}), input.T};
    write_tensor(exec, packed_.position, input.position);
    write_tensor(exec, packed_.samples.start, input.start);
}

EmbeddingIds Transformer::loaded_ids() const {
    return {loaded(token), segment ? loaded(segment) : Tensor{}, packed_.position};
}

LabelledRows Transformer::labelled(std::int64_t B) const {
    if (is_regression()) return {value_target.view({B}), B, class_loss.view({B}), {}, value.view({B})};
    return {class_target.view({B}), class_rows_, class_loss.view({B}), class_greedy.view({B})};
}

StreamRows Transformer::stream_rows(std::int64_t B, std::int64_t T, const KeptTokens& kept,
                                    const DropoutKeys& random) const {
    return {B, T, packed_.samples ? Tensor{} : length_, kept, packed_, random};
}

Tensor Transformer::loaded_images(std::int64_t B) const {
    const PatchConfig& images = *config_.input.patches;
    return image.view({B, images.height, images.width, images.channels});
}

void Transformer::embed(Exec& exec, const StreamRows& rows) {
    if (patch_embedding_)
        patch_embedding_->forward(exec, stack_.input(rows), loaded_images(rows.B), rows);
    else
        embedding_->forward(exec, stack_.input(rows), loaded_ids(), rows);
}

void Transformer::embed_backward(Exec& exec, const StreamRows& rows, Accumulate accumulate) {
    const Tensor d_stream = rows.of(d_stream_);
    if (patch_embedding_) {
        patch_embedding_->backward(exec, d_stream, rows, accumulate);
        return;
    }
    // A tied head has written the gradient of the tokens' table.
    const bool is_tied = config_.head && config_.head->tied;
    embedding_->backward(exec, d_stream, loaded_ids(), rows, is_tied ? Accumulate::yes : accumulate, accumulate);
}

Tensor Transformer::forward(Exec& exec, const StreamRows& rows) {
    const Residual out = stack_.forward(exec, rows);
    const Tensor sum = stack_.output(rows);
    if (!final_norm_ && out.branch) residual_forward(exec, sum, {}, out.rows, out.branch);
    last_states_ = final_norm_ ? final_norm_->forward(exec, out, sum) : sum;
    return last_states_;
}

void Transformer::backward(Exec& exec, const StreamRows& rows, Accumulate accumulate, const BlockDone& done) {
    const Tensor d_stream = rows.of(d_stream_);
    if (final_norm_) final_norm_->backward(exec, d_stream, {}, rows.of(states_), {}, stack_.output(rows), accumulate);
    stack_.backward(exec, d_stream, rows, accumulate, done);
    embed_backward(exec, rows, accumulate);
}

void Transformer::forward_backward(Exec& exec, std::int64_t B, std::int64_t T, const KeptTokens& kept,
                                   const DropoutKeys& random, const LossScales& scales, Accumulate accumulate,
                                   const BlockDone& done) {
    if (purpose_ == Purpose::inference) throw std::logic_error("a model planned for inference is asked to train");
    StreamRows rows = stream_rows(B, T, kept, random);
    rows.auxiliary_scale = scales.auxiliary;
    embed(exec, rows);
    const Tensor states = forward(exec, rows);
    const Tensor d_states = rows.of(final_norm_ ? states_ : d_stream_);
    if (head_)
        head_->train(exec, loaded(loss), d_states, states, loaded(target), target_rows_, scales.tokens, accumulate);
    if (class_head_)
        class_head_->train(exec, labelled(B), d_states, head_ ? Accumulate::yes : Accumulate::no, states, packed(),
                           random, scales.classes, accumulate);
    backward(exec, rows, accumulate, done);
}

void Transformer::evaluate(Exec& exec, std::int64_t B, std::int64_t T) {
    const auto work = [&] {
        const StreamRows rows = stream_rows(B, T, {}, {});
        embed(exec, rows);
        const Tensor states = forward(exec, rows);
        if (head_) head_->evaluate(exec, loaded(loss), loaded(greedy), states, loaded(target), target_rows_);
        if (class_head_) class_head_->evaluate(exec, labelled(B), states, packed());
    };
    evaluation_graphs_.run(exec, {B, T, loaded_rows(), packed().longest, bool(length_), target_rows_, class_rows_},
                           work);
}

void Transformer::evaluate(Exec& exec, const PackedSamples& samples) {
    const std::int64_t B = samples.B, T = samples.T, C = config_.width;
    const auto M = static_cast<std::int64_t>(samples.computed.size());
    const auto R = static_cast<std::int64_t>(samples.scored.size());
    require_images(nullptr);
    require_in_vocabulary(samples.token, 0, "token");
    require_in_vocabulary(samples.target, 0, "target");
    require_segments(nullptr, 0);
    require_classes(nullptr, 0);
    const Tensor computed = computed_.view({1, M}), position = position_.view({1, M});
    const Tensor source = source_.view({1, B * T}), scored = scored_.view({1, R});
    write_tensor(exec, token.view({1, M}), samples.token.data());
    write_tensor(exec, position, samples.position.data());
    write_tensor(exec, target.view({1, R}), samples.target.data());
    write_tensor(exec, computed, samples.computed.data());
    write_tensor(exec, source, samples.source.data());
    write_tensor(exec, scored, samples.scored.data());
    length_ = {};
    packed_ = {};
    shape_ = {1, M};

    const StreamRows rows{B, T, {}, {}, {position, {}, source, computed}, {}};
    embedding_->forward(exec, stack_.input(rows), {token.view({1, M}), {}, position}, rows);
    const Tensor of_all = forward(exec, rows), states = states_.view({1, R, C});
    gather_rows(exec, states, of_all, scored);
    head_->evaluate(exec, loss.view({1, R}), greedy.view({1, R}), states, target.view({1, R}), R);
}

void Transformer::logits(Exec& exec, Tensor out, std::int64_t B, std::int64_t T) {
    // A recorded pass leaves last_states_ in the shape of an earlier one.
    const std::int64_t samples = packed_.samples ? 1 : B, rows = packed_.samples ? shape_[1] : T;
    head_->logits(exec, out, make_tensor(last_states_.data, last_states_.dtype, {samples, rows, config_.width}));
}

ModelSize model_size(const TransformerConfig& config) {
    Arena arena;
    const Transformer model(arena, config, {}, 1);
    return {model.parameters().count(), model.active_parameters(), model.flops()};
}

}  // namespace deft::engine
