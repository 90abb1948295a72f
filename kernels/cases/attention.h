#pragma once
// Cases of attention.

#include "kernels/cases/case_table.h"

namespace deft::kernels::cases {

struct AttentionShape {
    std::int64_t B, T, H, d;
    bool causal;
    bool padded = false;
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
    return shapes;
}

// A product of every query with every key that it sees.
inline double attention_product_flops(const AttentionShape& s) {
    const double T = static_cast<double>(s.T);
    return 2.0 * static_cast<double>(s.B * s.H * s.d) * (s.causal ? T * (T + 1) / 2 : T * T);
}

inline std::string attention_name(const char* op, const AttentionShape& s) {
    return shape_text(op, s.B, s.T, s.H, s.d) + (s.causal ? " causal" : "") + (s.padded ? " padded" : "");
}

inline OpCase attention_forward_case(Draw draw, AttentionShape s) {
    const std::int64_t width = s.H * s.d;
    OpCase op;
    op.name = attention_name("attention_forward", s);
    op.buffers = {output("out", s.B * s.T * width), sum_output("lse", s.B * s.H * s.T),
                  draw.input("qkv", s.B * s.T * 3 * width)};
    if (s.padded) op.buffers.push_back(lengths(draw, s.B, s.T));
    if (s.T == 1) op.buffers[1].floor = 1;
    op.set_run([=](auto& exec, const auto& b) {
        attention_forward(exec, b[0], b.sum(1), b[2], s.B, s.T, s.H, s.d, s.causal, s.padded ? b.index(3) : nullptr);
    });
    op.workspace = [=](int threads) { return cpu::attention_forward_workspace(threads, s.T, s.d); };
    op.flops = 2 * attention_product_flops(s);
    op.set_least_bytes();
    return op;
}

inline OpCase attention_backward_case(Draw draw, AttentionShape s) {
    const std::int64_t width = s.H * s.d;
    OpCase op;
    op.name = attention_name("attention_backward", s);
    op.buffers = {output("dqkv", s.B * s.T * 3 * width), draw.input("dout", s.B * s.T * width),
                  draw.input("out", s.B * s.T * width), draw.input("qkv", s.B * s.T * 3 * width),
                  stored_as(Item::sum, draw.input("lse", s.B * s.H * s.T))};
    if (s.padded) op.buffers.push_back(lengths(draw, s.B, s.T));
    // out and lse are those of the forward pass.
    const std::vector<float>& qkv = op.buffers[3].value;
    std::vector<float>&out = op.buffers[2].value, &lse = op.buffers[4].value;
    cpu::Exec exec;
    std::vector<std::byte> workspace(cpu::attention_forward_workspace(1, s.T, s.d));
    exec.workspace = workspace;
    std::vector<std::int32_t> length;
    if (s.padded) length.assign(op.buffers[5].value.begin(), op.buffers[5].value.end());
    cpu::attention_forward(exec, out.data(), lse.data(), qkv.data(), s.B, s.T, s.H, s.d, s.causal,
                           s.padded ? length.data() : nullptr);
    op.set_run([=](auto& any_exec, const auto& b) {
        attention_backward(any_exec, b[0], b[1], b[2], b[3], b.sum(4), s.B, s.T, s.H, s.d, s.causal,
                           s.padded ? b.index(5) : nullptr);
    });
    op.workspace = [=](int threads) { return cpu::attention_backward_workspace(threads, s.T, s.d); };
    op.set_cuda_workspace([=](auto) { return cuda::attention_backward_workspace(s.B, s.T, s.H); });
    op.flops = 5 * attention_product_flops(s);
    op.set_least_bytes();
    return op;
}

inline void add_attention_cases(CaseTable& table) {
    for (const AttentionShape& s : attention_shapes(table.sizes())) {
        table.add([=](Draw draw) { return attention_forward_case(draw, s); });
        table.add([=](Draw draw) { return attention_backward_case(draw, s); });
    }
}

}  // namespace deft::kernels::cases
