#include "engine/nn/block.h"

namespace deft::engine {

BlockSaved plan_block_saved(Arena& arena, const std::string& name, DType dtype, const BlockShape& s) {
    const auto add = [&](const char* field, std::initializer_list<std::int64_t> shape) {
        return arena.add(Region::activations, name + field, dtype, shape);
    };
    const auto add_sum = [&](const char* field, std::initializer_list<std::int64_t> shape) {
        return arena.add(Region::activations, name + field, sum_dtype(dtype), shape);
    };
    BlockSaved saved;
    saved.ln1 = add("ln1", {s.B, s.T, s.C});
    saved.ln1_mean = add_sum("ln1_mean", {s.B, s.T});
    saved.ln1_rstd = add_sum("ln1_rstd", {s.B, s.T});
    saved.qkv = add("qkv", {s.B, s.T, 3 * s.C});
    saved.att = add("att", {s.B, s.T, s.C});
    saved.lse = add_sum("lse", {s.B, s.H, s.T});
    saved.mid = add("mid", {s.B, s.T, s.C});
    saved.ln2 = add("ln2", {s.B, s.T, s.C});
    saved.ln2_mean = add_sum("ln2_mean", {s.B, s.T});
    saved.ln2_rstd = add_sum("ln2_rstd", {s.B, s.T});
    saved.pre = add("pre", {s.B, s.T, s.F});
    saved.act = add("act", {s.B, s.T, s.F});
    return saved;
}

BlockScratch plan_block_scratch(Arena& arena, DType dtype, const BlockShape& s) {
    const auto add = [&](const char* field, std::initializer_list<std::int64_t> shape) {
        return arena.add(Region::activations, std::string("scratch.") + field, dtype, shape);
    };
    BlockScratch scratch;
    scratch.branch = add("branch", {s.B, s.T, s.C});
    scratch.d_branch = add("d_branch", {s.B, s.T, s.C});
    scratch.d_rows = add("d_rows", {s.B, s.T, s.C});
    scratch.d_qkv = add("d_qkv", {s.B, s.T, 3 * s.C});
    scratch.d_hidden = add("d_hidden", {s.B, s.T, s.F});
    return scratch;
}

BlockSaved view(const BlockSaved& saved, const BlockShape& s, std::int64_t B, std::int64_t K) {
    return {saved.ln1.view({B, K, s.C}),     saved.ln1_mean.view({B, K}), saved.ln1_rstd.view({B, K}),
            saved.qkv.view({B, K, 3 * s.C}), saved.att.view({B, K, s.C}), saved.lse.view({B, s.H, K}),
            saved.mid.view({B, K, s.C}),     saved.ln2.view({B, K, s.C}), saved.ln2_mean.view({B, K}),
            saved.ln2_rstd.view({B, K}),     saved.pre.view({B, K, s.F}), saved.act.view({B, K, s.F})};
}

BlockScratch view(const BlockScratch& scratch, const BlockShape& s, std::int64_t B, std::int64_t K) {
    return {scratch.branch.view({B, K, s.C}), scratch.d_branch.view({B, K, s.C}), scratch.d_rows.view({B, K, s.C}),
            scratch.d_qkv.view({B, K, 3 * s.C}), scratch.d_hidden.view({B, K, s.F})};
}

namespace {

// out (1, M, C), qkv (1, M, 3C)
void packed_attention_forward(Exec& exec, Tensor out, Tensor qkv, const PackedAttention& packed,
                              const AttentionMask& mask) {
    const std::int64_t positions = packed.source.dim(1);
    gather_rows(exec, packed.qkv.view({1, positions, qkv.columns()}), qkv, packed.source);
    attention_forward(exec, packed.out, packed.lse, packed.qkv, mask);
    gather_rows(exec, out, packed.out.view({1, positions, out.columns()}), packed.computed);
}

}  // namespace

void block_forward(Exec& exec, const BlockTensors& w, const BlockSaved& s, const BlockScratch& scratch, Tensor in,
                   Tensor gathered, Tensor out, const BlockRows& rows, const AttentionMask& mask,
                   const PackedAttention& packed) {
    const Tensor read = rows.gathers ? rows.index : Tensor{}, written = rows.scatters ? rows.index : Tensor{};
    layernorm_forward(exec, s.ln1, gathered, s.ln1_mean, s.ln1_rstd, in, read, w.ln1_weight, w.ln1_bias);
    linear_forward(exec, s.qkv, {}, s.ln1, w.qkv_weight, w.qkv_bias, Activation::none);
    if (packed.source)
        packed_attention_forward(exec, s.att, s.qkv, packed, mask);
    else
        attention_forward(exec, s.att, s.lse, s.qkv, mask);
    linear_forward(exec, scratch.branch, {}, s.att, w.proj_weight, w.proj_bias, Activation::none);
    residual_layernorm_forward(exec, s.ln2, s.mid, s.ln2_mean, s.ln2_rstd, read ? gathered : in, scratch.branch,
                               w.ln2_weight, w.ln2_bias);
    linear_forward(exec, s.act, s.pre, s.ln2, w.fc_weight, w.fc_bias, Activation::gelu);
    linear_forward(exec, scratch.branch, {}, s.act, w.fc2_weight, w.fc2_bias, Activation::none);
    residual_forward(exec, out, written, s.mid, scratch.branch);
}

void block_backward(Exec& exec, const BlockTensors& w, const BlockTensors& g, const BlockSaved& s,
                    const BlockScratch& scratch, Tensor d_stream, Tensor input, const BlockRows& rows,
                    const AttentionMask& mask, Accumulate accumulate) {
    // (B, K, C): gradient of the block's output, then of `mid`
    const Tensor d_rows = rows.index ? scratch.d_rows : d_stream;
    if (rows.index && rows.scatters) gather_rows(exec, d_rows, d_stream, rows.index);
    // MLP branch
    linear_backward_weight(exec, g.fc2_weight, g.fc2_bias, d_rows, s.act, accumulate);
    linear_backward_input(exec, scratch.d_hidden, d_rows, w.fc2_weight, s.pre, Activation::gelu);
    linear_backward_weight(exec, g.fc_weight, g.fc_bias, scratch.d_hidden, s.ln2, accumulate);
    linear_backward_input(exec, scratch.d_branch, scratch.d_hidden, w.fc_weight, {}, Activation::none);
    layernorm_backward(exec, d_rows, {}, g.ln2_weight, g.ln2_bias, scratch.d_branch, d_rows, s.mid, s.ln2_mean,
                       s.ln2_rstd, w.ln2_weight, accumulate);
    // attention branch
    linear_backward_weight(exec, g.proj_weight, g.proj_bias, d_rows, s.att, accumulate);
    linear_backward_input(exec, scratch.d_branch, d_rows, w.proj_weight, {}, Activation::none);
    attention_backward(exec, scratch.d_qkv, scratch.d_branch, s.att, s.qkv, s.lse, mask);
    linear_backward_weight(exec, g.qkv_weight, g.qkv_bias, scratch.d_qkv, s.ln1, accumulate);
    linear_backward_input(exec, scratch.d_branch, scratch.d_qkv, w.qkv_weight, {}, Activation::none);
    const bool to_stream = rows.gathers || !rows.index;
    layernorm_backward(exec, to_stream ? d_stream : d_rows, to_stream ? rows.index : Tensor{}, g.ln1_weight, g.ln1_bias,
                       scratch.d_branch, d_rows, input, s.ln1_mean, s.ln1_rstd, w.ln1_weight, accumulate);
}

}  // namespace deft::engine
