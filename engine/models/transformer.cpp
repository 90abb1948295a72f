#include "engine/models/transformer.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "base/error.h"
#include "engine/core/exec.h"

namespace deft::engine {

Transformer::Transformer(Arena& arena, const TransformerConfig& config, const Backend& backend, std::int64_t max_batch,
                         Purpose purpose)
    : config_(config),
      purpose_(purpose),
      shape_{max_batch, config.max_seqlen, config.width, config.heads, config.hidden()},
      parameters_(arena, backend.dtype, purpose) {
    const DType dtype = backend.dtype;
    const std::int64_t B = max_batch, T = config.max_seqlen, C = config.width, F = config.hidden(), V = config.vocab;
    const auto layer_name = [](std::int64_t layer) { return "h." + std::to_string(layer) + "."; };

    using enum ParameterKind;
    blocks_.resize(static_cast<std::size_t>(config.layers));
    wte_ = parameters_.add("wte.weight", embedding, {V, C});
    wpe_ = parameters_.add("wpe.weight", embedding, {T, C});
    for (std::int64_t layer = 0; layer < config.layers; ++layer) {
        BlockIndices& block = blocks_[static_cast<std::size_t>(layer)];
        block.qkv = parameters_.add(layer_name(layer) + "attn.c_attn.weight", matrix, {3 * C, C});
        block.proj = parameters_.add(layer_name(layer) + "attn.c_proj.weight", residual, {C, C});
        block.fc = parameters_.add(layer_name(layer) + "mlp.c_fc.weight", matrix, {F, C});
        block.fc2 = parameters_.add(layer_name(layer) + "mlp.c_proj.weight", residual, {C, F});
    }
    for (std::int64_t layer = 0; layer < config.layers; ++layer) {
        BlockIndices& block = blocks_[static_cast<std::size_t>(layer)];
        block.ln1 = parameters_.add(layer_name(layer) + "ln_1.weight", norm, {C});
        block.ln1_b = parameters_.add(layer_name(layer) + "ln_1.bias", bias, {C});
        block.qkv_b = parameters_.add(layer_name(layer) + "attn.c_attn.bias", bias, {3 * C});
        block.proj_b = parameters_.add(layer_name(layer) + "attn.c_proj.bias", bias, {C});
        block.ln2 = parameters_.add(layer_name(layer) + "ln_2.weight", norm, {C});
        block.ln2_b = parameters_.add(layer_name(layer) + "ln_2.bias", bias, {C});
        block.fc_b = parameters_.add(layer_name(layer) + "mlp.c_fc.bias", bias, {F});
        block.fc2_b = parameters_.add(layer_name(layer) + "mlp.c_proj.bias", bias, {C});
    }
    lnf_ = parameters_.add("ln_f.weight", norm, {C});
    lnf_b_ = parameters_.add("ln_f.bias", bias, {C});
    const std::int64_t padded = parameters_.plan_optimizer();

    const auto add = [&](const std::string& name, DType type, std::initializer_list<std::int64_t> shape) {
        return arena.add(Region::activations, name, type, shape);
    };
    token = add("token", DType::i32, {B, T});
    target = add("target", DType::i32, {B, T});
    loss = add("loss", sum_dtype(dtype), {B, T});
    greedy = add("greedy", DType::i32, {B, T});
    lengths_ = add("length", DType::i32, {B});
    computed_ = add("packed.computed", DType::i32, {B, T});
    source_ = add("packed.source", DType::i32, {B, T});
    scored_ = add("packed.scored", DType::i32, {B, T});
    const std::int64_t kept_layers = purpose == Purpose::training ? config.layers : 1;
    for (std::int64_t layer = 0; layer <= kept_layers; ++layer)
        stream_.push_back(add("stream." + std::to_string(layer), dtype, {B, T, C}));
    for (std::int64_t layer = 0; layer < kept_layers; ++layer)
        saved_.push_back(plan_block_saved(arena, layer_name(layer), dtype, shape_));
    scratch_ = plan_block_scratch(arena, dtype, shape_);
    final_ = add("final", dtype, {B, T, C});
    final_mean_ = add("final_mean", sum_dtype(dtype), {B, T});
    final_rstd_ = add("final_rstd", sum_dtype(dtype), {B, T});
    d_stream_ = add("d_stream", dtype, {B, T, C});
    d_final_ = add("d_final", dtype, {B, T, C});
    input_slot_.resize(blocks_.size());
    arena.reserve_workspace(workspace_bytes({backend, B, T, C, config.heads, F, V, padded}));
}

BlockTensors Transformer::block_tensors(std::int64_t layer, Tensor Parameter::*field) const {
    const BlockIndices& i = blocks_[static_cast<std::size_t>(layer)];
    return {tensor(i.ln1, field),  tensor(i.ln1_b, field),  tensor(i.qkv, field), tensor(i.qkv_b, field),
            tensor(i.proj, field), tensor(i.proj_b, field), tensor(i.ln2, field), tensor(i.ln2_b, field),
            tensor(i.fc, field),   tensor(i.fc_b, field),   tensor(i.fc2, field), tensor(i.fc2_b, field)};
}

std::int32_t KeptTokens::set_of(std::int64_t layer) const {
    const bool routed = index && layer >= 0 && layer < static_cast<std::int64_t>(set_of_layer.size());
    return routed ? set_of_layer[static_cast<std::size_t>(layer)] : kEveryToken;
}

BlockRows KeptTokens::rows(std::int64_t layer) const {
    const std::int32_t set = set_of(layer);
    if (set == kEveryToken) return {};
    return {index.slice(set), set_of(layer - 1) != set, set_of(layer + 1) != set};
}

void Transformer::require_in_vocabulary(std::span<const std::int32_t> ids, std::int32_t lowest,
                                        const char* what) const {
    const auto bad =
        std::find_if(ids.begin(), ids.end(), [&](std::int32_t id) { return id < lowest || id >= config_.vocab; });
    if (bad != ids.end())
        throw Error(ErrorKind::config, fmt::format("{} {} lies outside the vocabulary of {}", what, *bad, config_.vocab),
                    "tokenise the text with the tokenizer of this model");
}

void Transformer::load(Exec& exec, std::int64_t B, std::int64_t T, const std::int32_t* tokens,
                       const std::int32_t* targets, const std::int32_t* lengths) {
    const auto positions = static_cast<std::size_t>(B * T);
    require_in_vocabulary({tokens, positions}, 0, "token");
    require_in_vocabulary({targets, positions}, kernels::kIgnoreTarget, "target");
    for (std::int64_t b = 0; lengths != nullptr && b < B; ++b)
        if (lengths[b] < 0 || lengths[b] > T)
            throw Error(ErrorKind::config, fmt::format("a sample of {} tokens has a length of {}", T, lengths[b]),
                        "give the number of its real tokens");
    write_tensor(exec, token.view({B, T}), tokens);
    write_tensor(exec, target.view({B, T}), targets);
    length_ = lengths != nullptr ? lengths_.view({B}) : Tensor{};
    if (length_) write_tensor(exec, length_, lengths);
}

void Transformer::forward(Exec& exec, std::int64_t B, std::int64_t T, const KeptTokens& kept) {
    const std::int64_t C = config_.width;
    embedding_forward(exec, stream_[0].view({B, T, C}), token.view({B, T}), tensor(wte_, &Parameter::compute),
                      tensor(wpe_, &Parameter::compute));
    std::size_t current = 0;  // the slot of the stream
    for (std::int64_t layer = 0; layer < config_.layers; ++layer) {
        const auto i = static_cast<std::size_t>(layer);
        const BlockRows rows = kept.rows(layer);
        const std::int64_t K = rows.index ? rows.index.dim(1) : T;
        const Tensor here = stream(current).view({B, T, C}), own = stream(i + 1).view({B, K, C});
        Tensor in = here, gathered, out = own;
        if (rows.index) {
            (rows.gathers ? gathered : in) = own;
            out = rows.scatters ? here : stream(i + 2).view({B, K, C});
        }
        block_forward(exec, block_tensors(layer, &Parameter::compute), view(saved(i), shape_, B, K),
                      view(scratch_, shape_, B, K), in, gathered, out, rows, {config_.causal, length_});
        input_slot_[i] = rows.index ? i + 1 : current;
        if (!rows.index) current = i + 1;
    }
    last_slot_ = current;
    layernorm_forward(exec, final_.view({B, T, C}), {}, final_mean_.view({B, T}), final_rstd_.view({B, T}),
                      stream(current).view({B, T, C}), {}, tensor(lnf_, &Parameter::compute),
                      tensor(lnf_b_, &Parameter::compute));
}

void Transformer::backward(Exec& exec, std::int64_t B, std::int64_t T, const KeptTokens& kept, Accumulate accumulate) {
    const std::int64_t C = config_.width;
    const Tensor d_stream = d_stream_.view({B, T, C});
    layernorm_backward(exec, d_stream, {}, tensor(lnf_, &Parameter::grad), tensor(lnf_b_, &Parameter::grad),
                       d_final_.view({B, T, C}), {}, stream_[last_slot_].view({B, T, C}), final_mean_.view({B, T}),
                       final_rstd_.view({B, T}), tensor(lnf_, &Parameter::compute), accumulate);
    for (std::int64_t layer = config_.layers - 1; layer >= 0; --layer) {
        const auto i = static_cast<std::size_t>(layer);
        const BlockRows rows = kept.rows(layer);
        const std::int64_t K = rows.index ? rows.index.dim(1) : T;
        block_backward(exec, block_tensors(layer, &Parameter::compute), block_tensors(layer, &Parameter::grad),
                       view(saved_[i], shape_, B, K), view(scratch_, shape_, B, K), d_stream,
                       stream_[input_slot_[i]].view({B, K, C}), rows, {config_.causal, length_}, accumulate);
    }
    embedding_backward(exec, tensor(wte_, &Parameter::grad), tensor(wpe_, &Parameter::grad), d_stream,
                       token.view({B, T}), accumulate);
}

void Transformer::forward_backward(Exec& exec, std::int64_t B, std::int64_t T, const KeptTokens& kept, double scale,
                                   Accumulate accumulate) {
    if (purpose_ == Purpose::inference) throw std::logic_error("a model planned for inference is asked to train");
    forward(exec, B, T, kept);
    head_loss_train(exec, loss.view({B, T}), d_final_.view({B, T, config_.width}), tensor(wte_, &Parameter::grad),
                    final_.view({B, T, config_.width}), tensor(wte_, &Parameter::compute), target.view({B, T}), scale,
                    accumulate);
    backward(exec, B, T, kept, accumulate);
}

void Transformer::evaluate(Exec& exec, std::int64_t B, std::int64_t T) {
    forward(exec, B, T, {});
    head_loss(exec, loss.view({B, T}), greedy.view({B, T}), final_.view({B, T, config_.width}),
              tensor(wte_, &Parameter::compute), target.view({B, T}));
}

void Transformer::evaluate(Exec& exec, const PackedSamples& samples) {
    if (!config_.causal) throw std::logic_error("packed samples of a model that attends to later positions");
    const std::int64_t B = samples.B, T = samples.T, C = config_.width, H = config_.heads;
    const auto M = static_cast<std::int64_t>(samples.computed.size());
    const auto R = static_cast<std::int64_t>(samples.scored.size());
    require_in_vocabulary(samples.token, 0, "token");
    require_in_vocabulary(samples.target, 0, "target");
    const Tensor computed = computed_.view({1, M}), source = source_.view({1, B * T}), scored = scored_.view({1, R});
    write_tensor(exec, token.view({B, T}), samples.token.data());
    write_tensor(exec, target.view({1, R}), samples.target.data());
    write_tensor(exec, computed, samples.computed.data());
    write_tensor(exec, source, samples.source.data());
    write_tensor(exec, scored, samples.scored.data());
    length_ = {};

    // Buffers of the backward pass hold what is (B, T).
    const Tensor embedded = d_stream_.view({B, T, C});
    embedding_forward(exec, embedded, token.view({B, T}), tensor(wte_, &Parameter::compute),
                      tensor(wpe_, &Parameter::compute));
    gather_rows(exec, stream_[0].view({1, M, C}), embedded.view({1, B * T, C}), computed);
    for (std::int64_t layer = 0; layer < config_.layers; ++layer) {
        const auto i = static_cast<std::size_t>(layer);
        const PackedAttention packed{source, computed, scratch_.d_qkv.view({B, T, 3 * C}),
                                     scratch_.d_branch.view({B, T, C}), saved(i).lse.view({B, H, T})};
        block_forward(exec, block_tensors(layer, &Parameter::compute), view(saved(i), shape_, 1, M),
                      view(scratch_, shape_, 1, M), stream(i).view({1, M, C}), {}, stream(i + 1).view({1, M, C}), {},
                      {true, {}}, packed);
    }
    layernorm_forward(exec, final_.view({1, M, C}), {}, final_mean_.view({1, M}), final_rstd_.view({1, M}),
                      stream(blocks_.size()).view({1, M, C}), {}, tensor(lnf_, &Parameter::compute),
                      tensor(lnf_b_, &Parameter::compute));
    const Tensor states = d_final_.view({1, R, C});
    gather_rows(exec, states, final_.view({1, M, C}), scored);
    head_loss(exec, loss.view({1, R}), greedy.view({1, R}), states, tensor(wte_, &Parameter::compute),
              target.view({1, R}));
}

void Transformer::logits(Exec& exec, Tensor out, std::int64_t B, std::int64_t T) {
    linear_forward(exec, out, {}, final_.view({B, T, config_.width}), tensor(wte_, &Parameter::compute), {},
                   Activation::none);
}

}  // namespace deft::engine
