#pragma once
// Cases of attention.

#include "kernels/cases/case_table.h"

namespace deft::kernels::cases {

struct AttentionShape {
    std::int64_t B, T, H, d;
    bool causal;
    bool padded = false;
    std::int64_t Hkv = 0;  // 0: as many as H
    std::int64_t Tk = 0;   // 0: as many as T, which is Tq
    double dropout = 0;
    bool apart = false;            // q, k and v in buffers of their own, with gaps between rows
    bool packed = false;           // samples of 0 to T rows one after the other
    std::int64_t packed_rows = 0;  // of all of them: the case's to fill

    std::int64_t kv_heads() const { return Hkv == 0 ? H : Hkv; }
    std::int64_t keys() const { return Tk == 0 ? T : Tk; }
    // Row strides and sizes: of one buffer for all, or of three.
    bool is_fused() const { return !apart && keys() == T; }
    std::int64_t gap = 3;  // after a row, in three buffers; for tensor cores a multiple of 8
    std::int64_t q_stride() const { return H * d + gap; }
    std::int64_t kv_stride() const { return kv_heads() * d + gap; }
    std::int64_t queries() const { return packed ? packed_rows : B * T; }  // of all samples
    std::int64_t qkv_size() const { return queries() * (is_fused() ? (H + 2 * kv_heads()) * d : q_stride()); }
    std::int64_t kv_size() const { return is_fused() ? 0 : (packed ? packed_rows : B * keys()) * kv_stride(); }

    AttentionSpec spec() const {
        AttentionSpec spec{.B = B, .Tq = T, .Tk = keys(), .H = H, .Hkv = kv_heads(), .d = d, .causal = causal};
        spec.dropout.p = dropout;
        spec.dropout.seed = 77;
        spec.dropout.step = 12345;
        spec.dropout.layer = 3;
        return spec;
    }
    // Heads in buffers qkv or q, k and v.
    template <class Real>
    AttentionHeads<Real> heads(Real* q, Real* k, Real* v) const {
        if (is_fused()) return fused_heads(q, spec());
        return {{q, q_stride(), T * q_stride()},
                {k, kv_stride(), keys() * kv_stride()},
                {v, kv_stride(), keys() * kv_stride()}};
    }
};

inline std::vector<AttentionShape> attention_shapes(Sizes sizes) {
    std::vector<AttentionShape> shapes;
    if (sizes == Sizes::model) {
        for (const ModelSizes& m : model_sizes())
            for (const std::int64_t T : {m.T, m.kept()}) shapes.push_back({m.B, T, m.H, m.C / m.H, true});
        return shapes;
    }
    for (const bool causal : {true, false})
        for (const auto& [B, T, H, d] : {std::array<std::int64_t, 4>{1, 1, 1, 1},
                                         {2, 3, 1, 17},
                                         {2, 17, 3, 3},
                                         {1, 33, 2, 33},
                                         {1, 66, 1, 5},
                                         {2, 65, 2, 32},
                                         {1, 129, 3, 65},
                                         {1, 300, 1, 16},
                                         {1, 521, 2, 8},
                                         {8, 64, 2, 32}})
            shapes.push_back({B, T, H, d, causal});
    for (const auto& [B, T, H, d] : {std::array<std::int64_t, 4>{3, 5, 1, 3}, {4, 67, 2, 5}, {5, 130, 1, 33}})
        for (const bool causal : {true, false}) shapes.push_back({B, T, H, d, causal, true});
    for (const bool causal : {true, false}) {
        // One at a time: shared keys, other keys than queries, packed samples, dropout, views apart.
        shapes.push_back({.B = 2, .T = 19, .H = 4, .d = 5, .causal = causal, .Hkv = 2});
        shapes.push_back({.B = 1, .T = 131, .H = 3, .d = 9, .causal = causal, .Hkv = 1});
        shapes.push_back({.B = 2, .T = 3, .H = 2, .d = 7, .causal = causal, .Tk = 11});
        shapes.push_back({.B = 1, .T = 70, .H = 1, .d = 33, .causal = causal, .Tk = 333});
        shapes.push_back({.B = 3, .T = 37, .H = 2, .d = 5, .causal = causal, .packed = true});
        shapes.push_back({.B = 2, .T = 290, .H = 1, .d = 3, .causal = causal, .packed = true});
        shapes.push_back({.B = 7, .T = 70, .H = 2, .d = 33, .causal = causal, .packed = true});
        shapes.push_back({.B = 2, .T = 21, .H = 2, .d = 5, .causal = causal, .dropout = 0.25});
        shapes.push_back({.B = 1, .T = 300, .H = 1, .d = 70, .causal = causal, .dropout = 0.5});
        shapes.push_back({.B = 2, .T = 18, .H = 2, .d = 5, .causal = causal, .apart = true});
        // One query a sample, as of a model that generates; the last has more keys than are worked on at a time.
        shapes.push_back({.B = 3, .T = 1, .H = 4, .d = 17, .causal = causal, .Hkv = 2, .Tk = 71, .apart = true});
        shapes.push_back({.B = 2, .T = 1, .H = 2, .d = 64, .causal = causal, .Tk = 300});
        shapes.push_back({.B = 1, .T = 1, .H = 1, .d = 3, .causal = causal, .Tk = 16500});
        shapes.push_back({.B = 5, .T = 1, .H = 2, .d = 9, .causal = causal, .padded = true, .Tk = 150, .apart = true});
        // Together.
        shapes.push_back({.B = 3,
                          .T = 67,
                          .H = 4,
                          .d = 9,
                          .causal = causal,
                          .Hkv = 2,
                          .dropout = 0.1,
                          .apart = true,
                          .packed = true});
        shapes.push_back({.B = 3,
                          .T = 67,
                          .H = 4,
                          .d = 9,
                          .causal = causal,
                          .padded = true,
                          .Hkv = 2,
                          .dropout = 0.1,
                          .apart = true});
        shapes.push_back(
            {.B = 3, .T = 9, .H = 6, .d = 65, .causal = causal, .padded = true, .Hkv = 2, .Tk = 100, .dropout = 0.3});
        shapes.push_back(
            {.B = 4, .T = 200, .H = 2, .d = 4, .causal = causal, .Hkv = 1, .dropout = 0.4, .packed = true});
    }
    // Tensor cores take heads and rows of a multiple of 8 values. One feature at a time, then together.
    for (const bool causal : {true, false}) {
        shapes.push_back({.B = 1, .T = 150, .H = 1, .d = 8, .causal = causal});
        shapes.push_back({.B = 1, .T = 24, .H = 1, .d = 72, .causal = causal});
        shapes.push_back({.B = 2, .T = 67, .H = 4, .d = 8, .causal = causal, .Hkv = 2});
        shapes.push_back({.B = 1, .T = 150, .H = 1, .d = 64, .causal = causal});
        shapes.push_back({.B = 1, .T = 131, .H = 2, .d = 128, .causal = causal, .Hkv = 1});
        shapes.push_back({.B = 1, .T = 70, .H = 1, .d = 40, .causal = causal, .Tk = 333, .gap = 8});
        shapes.push_back({.B = 3, .T = 37, .H = 2, .d = 24, .causal = causal, .packed = true});
        shapes.push_back({.B = 2, .T = 190, .H = 1, .d = 72, .causal = causal, .packed = true});
        shapes.push_back({.B = 4, .T = 150, .H = 1, .d = 64, .causal = causal, .padded = true});
        shapes.push_back({.B = 2, .T = 130, .H = 1, .d = 32, .causal = causal, .dropout = 0.25});
        shapes.push_back({.B = 1, .T = 70, .H = 2, .d = 96, .causal = causal, .dropout = 0.5});
        shapes.push_back({.B = 3, .T = 1, .H = 4, .d = 64, .causal = causal, .Hkv = 2, .Tk = 300, .gap = 8});
        shapes.push_back({.B = 5, .T = 1, .H = 2, .d = 64, .causal = causal, .padded = true, .Tk = 200, .gap = 8});
        shapes.push_back({.B = 3,
                          .T = 67,
                          .H = 4,
                          .d = 16,
                          .causal = causal,
                          .Hkv = 2,
                          .dropout = 0.1,
                          .apart = true,
                          .packed = true,
                          .gap = 16});
        shapes.push_back({.B = 3,
                          .T = 9,
                          .H = 6,
                          .d = 104,
                          .causal = causal,
                          .padded = true,
                          .Hkv = 2,
                          .Tk = 100,
                          .dropout = 0.3,
                          .gap = 8});
    }
    shapes.push_back({.B = 2, .T = 140, .H = 2, .d = 16, .causal = false, .Tk = 3, .dropout = 0.2, .gap = 8});
    // More queries than keys, none of them causal.
    shapes.push_back({.B = 2, .T = 70, .H = 2, .d = 5, .causal = false, .Tk = 3, .dropout = 0.2});
    return shapes;
}

inline std::string attention_name(const char* op, const AttentionShape& s) {
    return shape_text(op, s.B, s.T, s.H, s.d) + (s.causal ? " causal" : "") + (s.padded ? " padded" : "") +
           (s.Hkv == 0 ? "" : " kv heads " + std::to_string(s.Hkv)) +
           (s.Tk == 0 ? "" : " keys " + std::to_string(s.Tk)) + (s.dropout == 0 ? "" : " dropout") +
           (s.apart ? " apart" : "") + (s.packed ? " packed" : "");
}

// Where packed samples start, if they are packed: then s learns how many rows they have.
inline Buffer starts_of(Draw& draw, AttentionShape& s) {
    if (!s.packed) return integer_input("start", {});
    const Buffer start = starts(draw, s.B, s.T);
    s.packed_rows = static_cast<std::int64_t>(start.value.back());
    return start;
}

// Adds the inputs of a case's mask after the other buffers, in their order.
inline void add_masks(OpCase& op, Draw& draw, const AttentionShape& s, const Buffer& start) {
    // One query a sample, as of a model that generates, has padded keys alone.
    const std::int64_t longest = s.T == 1 ? s.keys() : s.T;
    op.buffers.push_back(s.padded ? lengths(draw, s.B, longest) : integer_input("length", {}));
    op.buffers.push_back(start);
    Buffer number = stored_as(Item::id, integer_input("draw", draw.integers(s.dropout != 0 ? s.B : 0, 1 << 20)));
    for (float& value : number.value) value *= 1 << 16;  // beyond 32 bits
    op.buffers.push_back(number);
}

// The spec with the masks that begin at buffer `first`.
template <class Real>
AttentionSpec spec_of(const AttentionShape& s, const Arguments<Real>& b, std::size_t first) {
    AttentionSpec spec = s.spec();
    if (s.padded) spec.length = b.index(first);
    if (s.packed) spec.start = b.index(first + 1);
    if (s.dropout != 0) spec.dropout.draw = b.id(first + 2);
    return spec;
}

inline OpCase attention_forward_case(Draw draw, AttentionShape s) {
    OpCase op;
    op.name = attention_name("attention_forward", s);
    const Buffer start = starts_of(draw, s);
    op.buffers = {output("out", s.queries() * s.H * s.d), sum_output("lse", s.B * s.H * s.T),
                  draw.input("qkv", s.qkv_size()), draw.input("k", s.kv_size()), draw.input("v", s.kv_size())};
    add_masks(op, draw, s, start);
    // The values of one query, or of few, may cancel.
    if (s.T == 1 || s.packed) op.buffers[1].floor = 1;
    op.set_run([=](auto& exec, const auto& b) {
        attention_forward(exec, b[0], b.sum(1), read_only(s.heads(b[2], b[3], b[4])), spec_of(s, b, 5));
    });
    op.workspace = [=](int threads) { return cpu::attention_forward_workspace(threads, s.T, s.d); };
    op.set_work(attention_forward_work(s.spec(), s.padded, s.packed_rows));
    return op;
}

inline OpCase attention_backward_case(Draw draw, AttentionShape s) {
    const Buffer start_of_samples = starts_of(draw, s);
    const std::int64_t size = s.queries() * s.H * s.d;
    // Gaps between strided rows are not written.
    const auto d_heads = [&](const char* name, std::int64_t n) {
        return s.is_fused() ? output(name, n) : draw.update(name, n);
    };
    OpCase op;
    op.name = attention_name("attention_backward", s);
    op.buffers = {d_heads("dqkv", s.qkv_size()),
                  d_heads("dk", s.kv_size()),
                  d_heads("dv", s.kv_size()),
                  draw.input("dout", size),
                  draw.input("out", size),
                  draw.input("qkv", s.qkv_size()),
                  draw.input("k", s.kv_size()),
                  draw.input("v", s.kv_size()),
                  stored_as(Item::sum, draw.input("lse", s.B * s.H * s.T))};
    constexpr std::size_t kMasks = 9;
    add_masks(op, draw, s, start_of_samples);
    // out and lse are those of the forward pass.
    std::vector<std::int32_t> length(op.buffers[kMasks].value.begin(), op.buffers[kMasks].value.end()),
        start(op.buffers[kMasks + 1].value.begin(), op.buffers[kMasks + 1].value.end());
    std::vector<std::int64_t> number(op.buffers[kMasks + 2].value.begin(), op.buffers[kMasks + 2].value.end());
    AttentionSpec spec = s.spec();
    if (s.padded) spec.length = length.data();
    if (s.packed) spec.start = start.data();
    spec.dropout.draw = number.data();
    cpu::Exec exec;
    std::vector<std::byte> workspace(cpu::attention_forward_workspace(1, s.T, s.d));
    exec.workspace = workspace;
    const auto values = [&](std::size_t i) { return op.buffers[i].value.data(); };
    cpu::attention_forward(exec, values(4), values(8), read_only(s.heads(values(5), values(6), values(7))), spec);
    op.set_run([=](auto& any_exec, const auto& b) {
        attention_backward(any_exec, s.heads(b[0], b[1], b[2]), b[3], b[4], read_only(s.heads(b[5], b[6], b[7])),
                           b.sum(8), spec_of(s, b, kMasks));
    });
    op.derivative.gradients = {{0, std::size_t{5}}};
    if (!s.is_fused()) {
        op.derivative.gradients.push_back({1, std::size_t{6}});
        op.derivative.gradients.push_back({2, std::size_t{7}});
    }
    op.derivative.loss = [=](reference::Exec& any_exec, const Arguments<double>& b, std::span<double* const>) {
        reference::attention_forward(any_exec, b[4], b.sum(8), read_only(s.heads(b[5], b[6], b[7])),
                                     spec_of(s, b, kMasks));
        return reference::dot(b[3], b[4], size);
    };
    op.workspace = [=](int threads) { return cpu::attention_backward_workspace(threads, s.T, s.d); };
    op.set_cuda_workspace([=](auto) { return cuda::attention_backward_workspace(s.B, s.T, s.H); });
    op.set_work(attention_backward_work(s.spec(), s.padded, s.packed_rows));
    return op;
}

inline void add_attention_cases(CaseTable& table) {
    for (const AttentionShape& s : attention_shapes(table.sizes())) {
        table.add([=](Draw draw) { return attention_forward_case(draw, s); });
        table.add([=](Draw draw) { return attention_backward_case(draw, s); });
    }
}

}  // namespace deft::kernels::cases
