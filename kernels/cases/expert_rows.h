#pragma once
// Cases of where the rows of a layer of experts go, and how what comes back is summed.

#include "kernels/cases/case_table.h"
#include "kernels/cases/dropout.h"
#include "kernels/expert_routing.h"
#include "kernels/reference/experts.h"

namespace deft::kernels::cases {

enum class RowsOf { whole, padded, packed };

struct ExpertShape {
    std::int64_t B, K, E, k;
    RowsOf rows = RowsOf::whole;
    CapacitySpec capacity = {};
    bool is_sampled = false;
};

inline std::vector<ExpertShape> expert_shapes(Sizes sizes) {
    if (sizes == Sizes::model) {
        std::vector<ExpertShape> shapes;
        for (const ModelSizes& m : model_sizes()) shapes.push_back({m.B, m.T, 8, 1});
        return shapes;
    }
    return {{1, 1, 1, 1},
            {3, 17, 5, 1, RowsOf::whole, {1.0, 2, false}},
            {3, 33, 7, 1, RowsOf::padded, {0.9, 1, true}},
            {5, 21, 4, 1, RowsOf::packed, {0.7, 3, true}, true},
            {2, 40, 3, 2, RowsOf::padded, {0.6, 0, false}, true},
            {4, 13, 9, 2, RowsOf::packed, {1.25, 1, false}},
            {2, 25, 6, 2, RowsOf::whole, {0.4, 0, true}, true},
            {3, 30, 5, 4, RowsOf::padded, {0.5, 2, false}},
            {1, 70, 65, 3, RowsOf::whole, {}, true},
            {1, 300, 2, 2},
            {2, 150, 1, 1, RowsOf::padded, {0.01, 0, true}}};
}

inline std::string text_of(const char* op, const ExpertShape& s) {
    const char* const rows[] = {"", " padded", " packed"};
    return shape_text(op, s.B, s.K, s.E, s.k) + rows[static_cast<int>(s.rows)] + (s.is_sampled ? " sampled" : "") +
           (s.capacity.factor > 0 ? s.capacity.selects_at_random ? " capacity at random" : " capacity" : "");
}

// Which rows there are, and three buffers that say so: length, start and draw.
struct RowBuffers {
    std::int64_t N = 0, B = 0, K = 0;
    Buffer length, start, draw;
    std::uint64_t seed = 0;

    RowBuffers(Draw& numbers, const ExpertShape& s, bool draws)
        : N(s.B * s.K),
          B(s.B),
          K(s.K),
          length(integer_input("length", {})),
          start(integer_input("start_of_sample", {})),
          draw(draw_numbers(numbers, draws ? s.B : 0)),
          seed(numbers.seed()) {
        if (s.rows == RowsOf::padded) length = lengths(numbers, B, K);
        if (s.rows != RowsOf::packed) return;
        start = starts(numbers, B, K);
        start.name = "start_of_sample";
        N = static_cast<std::int64_t>(start.value.back()) + 2;  // the last rows are of no sample
    }
    void add_to(OpCase& op) const { op.buffers.insert(op.buffers.end(), {length, start, draw}); }

    // The buffers are those from `first` on.
    template <class Arguments>
    RoutedRows rows(const Arguments& b, std::size_t first) const {
        return rows(b.index(first), b.index(first + 1), b.id(first + 2));
    }
    RoutedRows rows(const std::int32_t* lengths_, const std::int32_t* starts_, const std::int64_t* draws) const {
        return {N,  B, K,    length.value.empty() ? nullptr : lengths_, start.value.empty() ? nullptr : starts_, seed,
                77, 5, draws};
    }
    double bytes() const {
        return routed_rows_bytes(B, !length.value.empty(), !start.value.empty(), !draw.value.empty());
    }
};

// Rows that have been routed, by the reference.
struct Routing {
    std::vector<float> logits;  // (N, E), the first experts the more popular
    std::vector<std::int32_t> expert, slot, row, start;
    std::vector<double> prob, lse;

    Routing(Draw& draw, const ExpertShape& s, const RowBuffers& buffers)
        : logits(draw.normal(buffers.N * s.E, 1, 0)),
          expert(static_cast<std::size_t>(buffers.N * s.k)),
          slot(expert.size()),
          row(expert.size()),
          start(static_cast<std::size_t>(s.E + 1)),
          prob(logits.size()),
          lse(static_cast<std::size_t>(buffers.N)) {
        for (std::size_t i = 0; i < logits.size(); ++i)
            logits[i] -= static_cast<float>(i % static_cast<std::size_t>(s.E)) / static_cast<float>(s.E);
        const std::vector<std::int32_t> length(buffers.length.value.begin(), buffers.length.value.end());
        const std::vector<std::int32_t> of_sample(buffers.start.value.begin(), buffers.start.value.end());
        const std::vector<std::int64_t> numbers(static_cast<std::size_t>(s.B), 3);
        const RoutedRows rows = buffers.rows(length.data(), of_sample.data(), numbers.data());
        const std::vector<double> exact(logits.begin(), logits.end());
        reference::Exec exec;
        reference::route(exec, prob.data(), lse.data(), expert.data(), exact.data(), rows, {s.E, s.k, s.is_sampled});
        reference::place_choices(exec, start.data(), row.data(), slot.data(), expert.data(), rows, s.E, s.k,
                                 s.capacity);
    }
    std::int64_t slots() const { return start.back(); }
    Buffer logits_buffer() const { return stored_as(Item::sum, {"logits", Role::input, logits}); }
};

inline std::vector<float> floats(const std::vector<double>& values) {
    return {values.begin(), values.end()};
}

inline OpCase place_choices_case(Draw draw, ExpertShape s) {
    OpCase op;
    op.name = text_of("place_choices", s);
    const bool draws = s.capacity.factor > 0 && s.capacity.selects_at_random;
    const RowBuffers rows(draw, s, draws);
    const Routing routing(draw, s, rows);
    const std::int64_t n = rows.N * s.k;
    op.buffers = {stored_as(Item::index, output("start", s.E + 1)), stored_as(Item::index, output("row", n)),
                  stored_as(Item::index, output("slot", n)), integer_input("expert", routing.expert)};
    rows.add_to(op);
    op.set_run([=](auto& exec, const auto& b) {
        place_choices(exec, b.index(0), b.index(1), b.index(2), b.index(3), rows.rows(b, 4), s.E, s.k, s.capacity);
    });
    op.workspace = [=](int) { return cpu::place_choices_workspace(rows.N, s.E, s.k); };
    op.tolerance = 0;
    op.set_work(place_choices_work(rows.N, s.E, s.k, rows.bytes()));
    return op;
}

inline OpCase jitter_rows_case(Draw draw, ExpertShape s, std::int64_t C, bool has_residual, bool is_backward) {
    constexpr double kEpsilon = 0.3;
    OpCase op;
    op.name = text_of("jitter_rows", s) + shape_text("", C) + (has_residual ? " residual" : "") +
              (is_backward ? " backward" : "");
    const RowBuffers rows(draw, s, true);
    const std::int64_t size = rows.N * C;
    op.buffers = {output(is_backward ? "dx" : "y", size), draw.input(is_backward ? "dy" : "x", size),
                  draw.input("residual", has_residual ? size : 0)};
    rows.add_to(op);
    op.roundings = 2;
    op.set_run([=](auto& exec, const auto& b) {
        jitter_rows(exec, b[0], b[1], has_residual ? b[2] : nullptr, rows.rows(b, 3), C, kEpsilon);
    });
    if (is_backward) {
        op.derivative.gradients = {{0, std::nullopt}};
        op.derivative.loss = [=](reference::Exec& exec, const Arguments<double>& b, std::span<double* const> variable) {
            std::vector<double> y(static_cast<std::size_t>(size));
            reference::jitter_rows<double>(exec, y.data(), variable[0], nullptr, rows.rows(b, 3), C, kEpsilon);
            return weighted_sum(b[1], y);
        };
    }
    op.set_work(jitter_rows_work(rows.N, C, has_residual, rows.bytes()));
    return op;
}

// A buffer (slots, columns) of which only the first are used.
inline Buffer slots_output(Draw& draw, const char* name, std::int64_t used, std::int64_t slots, std::int64_t columns) {
    return used == slots ? output(name, slots * columns) : draw.update(name, slots * columns);
}

inline OpCase combine_rows_case(Draw draw, ExpertShape s, std::int64_t C, bool has_weight) {
    OpCase op;
    op.name = text_of("combine_rows", s) + shape_text("", C) + (has_weight ? "" : " without weights");
    const RowBuffers rows(draw, s, false);
    const Routing routing(draw, s, rows);
    const std::int64_t n = rows.N * s.k, slots = routing.slots();
    op.buffers = {output("out", rows.N * C), draw.input("y", slots * C),
                  stored_as(Item::sum, draw.input("weight", has_weight ? n : 0)), integer_input("slot", routing.slot)};
    op.set_run([=](auto& exec, const auto& b) {
        combine_rows(exec, b[0], b[1], has_weight ? b.sum(2) : nullptr, b.index(3), rows.N, s.k, C);
    });
    op.set_work(combine_rows_work(rows.N, s.k, C, slots, has_weight));
    return op;
}

inline OpCase combine_backward_case(Draw draw, ExpertShape s, std::int64_t C) {
    OpCase op;
    op.name = text_of("combine_backward", s) + shape_text("", C);
    const RowBuffers rows(draw, s, false);
    const Routing routing(draw, s, rows);
    const std::int64_t N = rows.N, n = N * s.k, slots = routing.slots();
    op.buffers = {output("dy", slots * C),
                  sum_output("dweight", n),
                  draw.input("dout", N * C),
                  draw.input("y", slots * C),
                  stored_as(Item::sum, draw.input("weight", n)),
                  integer_input("slot", routing.slot)};
    op.buffers[1].floor = 1;  // a sum over columns
    op.set_run([=](auto& exec, const auto& b) {
        combine_backward(exec, b[0], b.sum(1), b[2], b[3], b.sum(4), b.index(5), N, s.k, C);
    });
    op.derivative.gradients = {{0, 3}, {1, 4}};
    op.derivative.loss = [=](reference::Exec& exec, const Arguments<double>& b, std::span<double* const> variable) {
        std::vector<double> out(static_cast<std::size_t>(N * C));
        reference::combine_rows<double>(exec, out.data(), variable[0], variable[1], b.index(5), N, s.k, C);
        return weighted_sum(b[2], out);
    };
    op.set_work(combine_backward_work(N, s.k, C, slots));
    return op;
}

inline OpCase mix_rows_case(Draw draw, std::int64_t B, std::int64_t K, std::int64_t C) {
    const std::int64_t N = B * K;
    OpCase op;
    op.name = shape_text("mix_rows", B, K, C);
    op.buffers = {output("out", N * C), draw.input("a", N * C), draw.input("b", N * C),
                  stored_as(Item::sum, draw.input("logits", 2 * N))};
    op.set_run([=](auto& exec, const auto& b) { mix_rows(exec, b[0], b[1], b[2], b.sum(3), N, C); });
    op.set_work(mix_rows_work(N, C));
    return op;
}

inline OpCase mix_backward_case(Draw draw, std::int64_t B, std::int64_t K, std::int64_t C) {
    const std::int64_t N = B * K;
    OpCase op;
    op.name = shape_text("mix_backward", B, K, C);
    op.buffers = {output("da", N * C),
                  output("db", N * C),
                  sum_output("dlogits", 2 * N),
                  draw.input("dout", N * C),
                  draw.input("a", N * C),
                  draw.input("b", N * C),
                  stored_as(Item::sum, draw.input("logits", 2 * N))};
    op.buffers[2].floor = 1;  // a sum over columns
    op.set_run(
        [=](auto& exec, const auto& b) { mix_backward(exec, b[0], b[1], b.sum(2), b[3], b[4], b[5], b.sum(6), N, C); });
    op.derivative.gradients = {{0, 4}, {1, 5}, {2, 6}};
    op.derivative.loss = [=](reference::Exec& exec, const Arguments<double>& b, std::span<double* const> variable) {
        std::vector<double> out(static_cast<std::size_t>(N * C));
        reference::mix_rows<double>(exec, out.data(), variable[0], variable[1], variable[2], N, C);
        return weighted_sum(b[3], out);
    };
    op.set_work(mix_backward_work(N, C));
    return op;
}

inline void add_expert_row_cases(CaseTable& table) {
    const bool is_odd = table.sizes() == Sizes::odd;
    const std::vector<std::int64_t> widths =
        is_odd ? std::vector<std::int64_t>{1, 17, 64, 130} : std::vector<std::int64_t>{256};
    std::size_t number = 0;
    for (const ExpertShape& s : expert_shapes(table.sizes())) {
        const std::int64_t C = widths[number++ % widths.size()];
        table.add([=](Draw draw) { return place_choices_case(draw, s); });
        table.add([=](Draw draw) { return combine_rows_case(draw, s, C, true); });
        table.add([=](Draw draw) { return combine_rows_case(draw, s, C, false); });
        table.add([=](Draw draw) { return combine_backward_case(draw, s, C); });
        table.add([=](Draw draw) { return jitter_rows_case(draw, s, C, C > 17, false); });
        if (is_odd) table.add([=](Draw draw) { return jitter_rows_case(draw, s, C, false, true); });
        table.add([=](Draw draw) { return mix_rows_case(draw, s.B, s.K, C); });
        table.add([=](Draw draw) { return mix_backward_case(draw, s.B, s.K, C); });
    }
}

}  // namespace deft::kernels::cases
