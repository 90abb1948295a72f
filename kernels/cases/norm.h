#pragma once
// Cases of layer and RMS normalisation, their residual forms and their row-index forms.

#include "kernels/cases/case_table.h"

namespace deft::kernels::cases {

struct StreamShape {
    std::int64_t B, T, K, C;  // K rows of T taken; K == T runs both with and without an index
};

inline std::vector<StreamShape> stream_shapes(Sizes sizes) {
    if (sizes == Sizes::model) {
        std::vector<StreamShape> shapes;
        for (const ModelSizes& m : model_sizes()) shapes.push_back({m.B, m.T, m.kept(), m.C});
        return shapes;
    }
    // The last: rows that several warps share, one that no block holds at once, and sums of more than eight chunks.
    return {{1, 1, 1, 1},    {2, 3, 1, 17},  {3, 17, 5, 33},  {2, 33, 33, 65}, {1, 129, 64, 129}, {8, 64, 32, 64},
            {1, 10, 3, 299}, {1, 3, 2, 800}, {1, 9, 3, 4104}, {1, 1, 1, 2049}, {1, 301, 290, 17}, {1, 290, 290, 24}};
}

inline std::string stream_text(const char* op, const StreamShape& s, bool indexed) {
    return shape_text(op, s.B, s.T, s.K, s.C) + (indexed ? " indexed" : "");
}

// "layernorm_forward": series of benchmarks know the kinds under these names.
inline std::string norm_op(const char* before, const NormSpec& norm, const char* after) {
    return std::string(before) + (norm.kind == NormKind::layer ? "layernorm" : "rmsnorm") + after;
}
inline std::string eps_text(const NormSpec& norm) {
    return norm.eps == kLayerNormEps ? "" : " eps";
}

// Row counts without an index: every row is taken.
inline StreamShape effective(StreamShape s, bool indexed) {
    if (!indexed) s.K = s.T;
    return s;
}

// (B, K) rows taken; nothing without an index.
inline Buffer draw_index(Draw& draw, const StreamShape& s, bool indexed) {
    return integer_input("index", draw.kept_rows(indexed ? s.B : 0, s.T, s.K));
}

inline OpCase norm_forward_case(Draw draw, StreamShape s, bool indexed, NormSpec norm = {}) {
    s = effective(s, indexed);
    const std::int64_t rows = s.B * s.K, means = norm.kind == NormKind::layer ? rows : 0;
    OpCase op;
    op.name = stream_text(norm_op("", norm, "_forward").c_str(), s, indexed) + eps_text(norm);
    op.buffers = {
        output("y", rows * s.C),           output("gathered", indexed ? rows * s.C : 0),  sum_output("mean", means),
        sum_output("rstd", rows),          draw.input("stream", s.B * s.T * s.C, 2, 0.5), draw_index(draw, s, indexed),
        draw.input("weight", s.C, 0.3, 1), draw.input("bias", means > 0 ? s.C : 0)};
    op.set_run([=](auto& exec, const auto& b) {
        norm_forward(exec, b[0], indexed ? b[1] : nullptr, means > 0 ? b.sum(2) : nullptr, b.sum(3), b[4],
                     indexed ? b.index(5) : nullptr, b[6], means > 0 ? b[7] : nullptr, s.B, s.T, s.K, s.C, norm);
    });
    op.set_work(norm_forward_work(rows, s.C, indexed, norm.kind));
    return op;
}

inline OpCase residual_norm_forward_case(Draw draw, StreamShape s, NormSpec norm = {}) {
    const std::int64_t rows = s.B * s.T, means = norm.kind == NormKind::layer ? rows : 0;
    OpCase op;
    op.name = shape_text(norm_op("residual_", norm, "_forward").c_str(), rows, s.C) + eps_text(norm);
    op.buffers = {output("y", rows * s.C),
                  output("sum", rows * s.C),
                  sum_output("mean", means),
                  sum_output("rstd", rows),
                  draw.input("a", rows * s.C, 2, 0.5),
                  draw.input("delta", rows * s.C),
                  draw.input("weight", s.C, 0.3, 1),
                  draw.input("bias", means > 0 ? s.C : 0)};
    op.buffers[2].of_rounded = op.buffers[3].of_rounded = true;  // of the sum
    op.roundings = 2;
    op.set_run([=](auto& exec, const auto& b) {
        residual_norm_forward(exec, b[0], b[1], means > 0 ? b.sum(2) : nullptr, b.sum(3), b[4], b[5], b[6],
                              means > 0 ? b[7] : nullptr, rows, s.C, norm);
    });
    op.set_work(residual_norm_forward_work(rows, s.C, norm.kind));
    return op;
}

inline OpCase residual_forward_case(Draw draw, StreamShape s, bool indexed, bool has_delta = true) {
    s = effective(s, indexed);
    OpCase op;
    op.name = stream_text("residual_forward", s, indexed) + (has_delta ? "" : " no-delta");
    op.buffers = {indexed ? draw.update("out", s.B * s.T * s.C) : output("out", s.B * s.T * s.C),
                  draw_index(draw, s, indexed), draw.input("a", s.B * s.K * s.C), draw.input("delta", s.B * s.K * s.C)};
    op.set_run([=](auto& exec, const auto& b) {
        residual_forward(exec, b[0], indexed ? b.index(1) : nullptr, b[2], has_delta ? b[3] : nullptr, s.B, s.T, s.K,
                         s.C);
    });
    op.set_work(residual_forward_work(s.B * s.K, s.C, indexed, has_delta));
    return op;
}

// in_place: dresidual is dx itself.
inline OpCase norm_backward_case(Draw draw, StreamShape s, bool indexed, bool has_residual, bool in_place,
                                 Accumulate accumulate, NormSpec norm = {}) {
    s = effective(s, indexed);
    const bool is_layer = norm.kind == NormKind::layer;
    const std::int64_t rows = s.B * s.K, means = is_layer ? rows : 0, biases = is_layer ? s.C : 0;
    OpCase op;
    op.name = stream_text(norm_op("", norm, "_backward").c_str(), s, indexed) + (has_residual ? " residual" : "") +
              (in_place ? " in place" : "") + (accumulate == Accumulate::yes ? " accumulate" : "") + eps_text(norm);
    Buffer x = draw.input("x", rows * s.C, 2, 0.5);
    Buffer mean = stored_as(Item::sum, draw.input("mean", means)),
           rstd = stored_as(Item::sum, draw.input("rstd", rows));
    for (std::int64_t r = 0; r < rows; ++r) {  // the statistics of x, as the forward pass leaves them
        std::vector<double> row(x.value.begin() + r * s.C, x.value.begin() + (r + 1) * s.C), y(row.size(), 0),
            ones(row.size(), 1);
        double row_mean = 0, row_rstd = 0;
        reference::normalise_row(y.data(), row_mean, row_rstd, row.data(), ones.data(), ones.data(), s.C, norm);
        if (is_layer) mean.value[static_cast<std::size_t>(r)] = static_cast<float>(row_mean);
        rstd.value[static_cast<std::size_t>(r)] = static_cast<float>(row_rstd);
    }
    op.buffers = {indexed || in_place ? draw.update("dx", s.B * s.T * s.C) : output("dx", s.B * s.T * s.C),
                  gradient(draw, "dweight", s.C, accumulate),
                  gradient(draw, "dbias", biases, accumulate),
                  draw.input("dy", rows * s.C),
                  draw.input("dresidual", has_residual && !in_place ? rows * s.C : 0),
                  std::move(x),
                  std::move(mean),
                  std::move(rstd),
                  draw.input("weight", s.C, 0.3, 1),
                  draw_index(draw, s, indexed)};
    // One value normalises to 0, or to its sign: dx is the rounding of a cancelled sum times rstd, up to 1 / sqrt(eps).
    if (s.C == 1) op.buffers[0].floor = op.buffers[1].floor = 1 / kLayerNormEps;
    op.set_run([=](auto& exec, const auto& b) {
        const auto* const dresidual = in_place ? b[0] : has_residual ? b[4] : nullptr;
        norm_backward(exec, b[0], indexed ? b.index(9) : nullptr, b.sum(1), is_layer ? b.sum(2) : nullptr, b[3],
                      dresidual, b[5], is_layer ? b.sum(6) : nullptr, b.sum(7), b[8], s.B, s.T, s.K, s.C, accumulate,
                      norm);
    });
    // The stream reaches the loss through the norm and through the residual. In place, the residual is what dx held.
    op.derivative.gradients = {{0, indexed ? std::nullopt : std::optional<std::size_t>(5)}, {1, std::size_t{8}}};
    if (is_layer) op.derivative.gradients.push_back({2, std::nullopt});
    op.derivative.loss = [=](reference::Exec& exec, const Arguments<double>& b, std::span<double* const> variable) {
        std::vector<double> y(static_cast<std::size_t>(rows * s.C)), taken(y.size());
        reference::norm_forward<double>(exec, y.data(), taken.data(), b.sum(6), b.sum(7), variable[0],
                                        indexed ? b.index(9) : nullptr, variable[1], is_layer ? variable[2] : nullptr,
                                        s.B, s.T, s.K, s.C, norm);
        if (indexed) std::copy(taken.begin(), taken.end(), b[5]);
        return weighted_sum(b[3], y) + (has_residual && !in_place ? weighted_sum(b[4], taken) : 0);
    };
    op.workspace = [=](int) { return cpu::norm_backward_workspace(rows, s.C); };
    op.set_cuda_workspace([=](auto) { return cuda::norm_backward_workspace(rows, s.C); });
    op.set_work(norm_backward_work(rows, s.C, indexed, has_residual, accumulate, norm.kind));
    return op;
}

inline OpCase gather_rows_case(Draw draw, StreamShape s) {
    OpCase op;
    op.name = stream_text("gather_rows", s, true);
    op.buffers = {output("out", s.B * s.K * s.C), draw.input("stream", s.B * s.T * s.C), draw_index(draw, s, true)};
    op.set_run([=](auto& exec, const auto& b) { gather_rows(exec, b[0], b[1], b.index(2), s.B, s.T, s.K, s.C); });
    op.set_work(gather_rows_work(s.B * s.K, s.C));
    op.tolerance = 0;
    op.roundings = 0;
    return op;
}

inline void add_norm_cases(CaseTable& table) {
    for (const StreamShape& s : stream_shapes(table.sizes())) {
        for (const bool indexed : {false, true}) {
            table.add([=](Draw draw) { return norm_forward_case(draw, s, indexed); });
            table.add([=](Draw draw) { return residual_forward_case(draw, s, indexed); });
            if (indexed) table.add([=](Draw draw) { return residual_forward_case(draw, s, indexed, false); });
            table.add([=](Draw draw) { return norm_backward_case(draw, s, indexed, false, false, Accumulate::no); });
            table.add([=](Draw draw) { return norm_backward_case(draw, s, indexed, true, false, Accumulate::yes); });
        }
        table.add([=](Draw draw) { return norm_backward_case(draw, s, false, true, true, Accumulate::no); });
        table.add([=](Draw draw) { return residual_norm_forward_case(draw, s); });
        table.add([=](Draw draw) { return gather_rows_case(draw, s); });
    }
    // An eps that is seen in the results, and RMS normalisation.
    const bool is_model = table.sizes() == Sizes::model;
    const NormSpec layer{NormKind::layer, 0.5}, rms{NormKind::rms, is_model ? kLayerNormEps : 0.5};
    for (const StreamShape& s : stream_shapes(table.sizes()))
        for (const NormSpec& norm : is_model ? std::vector{rms} : std::vector{layer, rms}) {
            for (const bool indexed : {false, true}) {
                table.add([=](Draw draw) { return norm_forward_case(draw, s, indexed, norm); });
                table.add([=](Draw draw) {
                    return norm_backward_case(draw, s, indexed, indexed, false,
                                              indexed ? Accumulate::yes : Accumulate::no, norm);
                });
            }
            table.add([=](Draw draw) { return norm_backward_case(draw, s, false, true, true, Accumulate::no, norm); });
            table.add([=](Draw draw) { return residual_norm_forward_case(draw, s, norm); });
        }
}

}  // namespace deft::kernels::cases
