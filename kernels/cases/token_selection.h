#pragma once
// Cases of the selection of kept tokens: the same positions on every backend; and of the importance that it may go by.

#include "kernels/cases/case_table.h"
#include "kernels/entry_loss.h"

namespace deft::kernels::cases {

struct SelectionShape {
    std::int64_t layers, B, T, K;
    std::int64_t keep_first = 0;
    bool padded = false;
};

inline std::vector<SelectionShape> selection_shapes(Sizes sizes) {
    if (sizes == Sizes::model) {
        std::vector<SelectionShape> shapes;
        for (const ModelSizes& m : model_sizes()) shapes.push_back({10, m.B, m.T, m.kept()});
        return shapes;
    }
    return {
        {1, 1, 1, 1},      {2, 3, 17, 5},           {2, 3, 129, 129},       {1, 2, 256, 1},           {3, 1, 300, 299},
        {2, 2, 1000, 333}, {2, 5, 65, 31, 3, true}, {1, 7, 33, 9, 9, true}, {1, 4, 257, 129, 1, true}};
}

inline OpCase selection_case(const char* op_name, const SelectionShape& s, std::int64_t layers) {
    OpCase op;
    op.name = shape_text(op_name, layers, s.B, s.T, s.K) +
              (s.keep_first > 0 ? ", first " + std::to_string(s.keep_first) : "") + (s.padded ? ", padded" : "");
    op.buffers = {stored_as(Item::index, output("index", layers * s.B * s.K))};
    op.workspace = [=](int threads) { return cpu::select_kept_tokens_workspace(threads, s.T); };
    op.tolerance = 0;
    return op;
}

inline OpCase select_random_tokens_case(Draw draw, SelectionShape s) {
    OpCase op = selection_case("select_random_tokens", s, s.layers);
    op.buffers.push_back(integer_input("layer_id", draw.integers(s.layers, 100)));
    op.buffers.push_back(stored_as(Item::id, integer_input("draw", draw.integers(s.B, 1 << 20))));
    for (float& id : op.buffers[2].value) id *= 1 << 16;  // beyond 32 bits
    if (s.padded) op.buffers.push_back(lengths(draw, s.B, s.T));
    op.set_run([=](auto& exec, const auto& b) {
        const RandomKeys keys{draw.seed(), 1000, b.index(1),
                              b.id(2),     s.B,  {s.keep_first, s.padded ? b.index(3) : nullptr}};
        select_kept_tokens(exec, b.index(0), keys, s.layers * s.B, s.T, s.K);
    });
    op.set_work(select_random_tokens_work(s.layers, s.B, s.K, s.padded));
    return op;
}

// A vocabulary so small that ties abound, one entry of which is always kept.
inline OpCase select_important_tokens_case(Draw draw, SelectionShape s, bool packed) {
    constexpr std::int64_t V = 11;
    OpCase op = selection_case("select_important_tokens", s, 1);
    Buffer importance = stored_as(Item::single, draw.input("importance", V));
    for (float& value : importance.value) value *= value;
    importance.value[1] = kAlwaysKept;
    importance.value[2] = importance.value[3];
    importance.value[4] = 0;
    op.buffers.push_back(importance);
    op.buffers.push_back(integer_input("token", draw.integers(s.B * s.T, V)));
    if (s.padded) op.buffers.push_back(lengths(draw, s.B, s.T));
    if (packed) {
        Buffer start = integer_input("start", std::vector<std::int32_t>(static_cast<std::size_t>(s.B)));
        const Buffer& length = op.buffers.back();
        std::partial_sum(length.value.begin(), length.value.end() - 1, start.value.begin() + 1);
        op.buffers.push_back(start);
        op.name += ", packed";
    }
    op.set_run([=](auto& exec, const auto& b) {
        const ImportanceKeys keys{
            b.single(1), b.index(2), {s.keep_first, s.padded ? b.index(3) : nullptr}, packed ? b.index(4) : nullptr};
        select_kept_tokens(exec, b.index(0), keys, s.B, s.T, s.K);
    });
    op.set_work(select_important_tokens_work(s.B, s.T, s.K, V, s.padded, packed));
    return op;
}

// Samples from none of whose tokens to all are kept.
inline OpCase pack_kept_tokens_case(Draw draw, std::int64_t layers, std::int64_t B, std::int64_t T, std::int64_t K) {
    OpCase op;
    op.name = shape_text("pack_kept_tokens", layers, B, T, K);
    const Buffer start = starts(draw, B, T);
    Buffer kept_start = start;
    kept_start.name = "kept_start";
    for (std::size_t b = 0; b + 1 < start.value.size(); ++b)
        kept_start.value[b + 1] =
            kept_start.value[b] + std::min(static_cast<float>(K), start.value[b + 1] - start.value[b]);
    const auto rows = static_cast<std::int64_t>(kept_start.value.back());
    const auto result = [&](const char* name) { return stored_as(Item::index, output(name, layers * rows)); };
    op.buffers = {result("index"), result("position"), integer_input("kept", draw.integers(layers * B * K, T)), start,
                  kept_start};
    op.set_run([=](auto& exec, const auto& b) {
        pack_kept_tokens(exec, b.index(0), b.index(1), b.index(2), b.index(3), b.index(4), layers, B, K, rows);
    });
    op.tolerance = 0;
    op.set_work(pack_kept_tokens_work(layers, B, K, rows));
    return op;
}

// Targets inside the vocabulary, ignored and beyond it; losses of every size, negative ones and NaN among them.
inline OpCase add_entry_losses_case(Draw draw, std::int64_t n, std::int64_t V, Accumulate accumulate) {
    const bool adds = accumulate == Accumulate::yes;
    OpCase op;
    op.name = shape_text("add_entry_losses", n, V) + (adds ? " accumulate" : "");
    const auto sums = [&](const char* name) {
        Buffer buffer = stored_as(Item::id, output(name, V));
        if (!adds) return buffer;
        buffer.role = Role::update;
        const std::vector<std::int32_t> old = draw.integers(V, 1 << 20);
        buffer.value.assign(old.begin(), old.end());
        return buffer;
    };
    Buffer loss = stored_as(Item::sum, draw.input("loss", n, 4, 5));
    loss.value[0] = 1e9f;
    if (n > 1) loss.value[1] = NAN;
    std::vector<std::int32_t> target = draw.integers(n, V + 2);
    for (std::int32_t& id : target)
        if (id == V + 1) id = kIgnoreTarget;
    op.buffers = {sums("loss_sum"), sums("count"), loss, integer_input("target", target)};
    op.set_run([=](auto& exec, const auto& b) {
        add_entry_losses(exec, b.id(0), b.id(1), b.sum(2), b.index(3), n, V, accumulate);
    });
    op.tolerance = 0;
    op.set_work(add_entry_losses_work(n, V, accumulate));
    return op;
}

inline OpCase update_importance_case(Draw draw, std::int64_t V, double norm) {
    OpCase op;
    op.name = shape_text("update_importance", V) + (std::isfinite(norm) ? "" : " of a step that diverged");
    Buffer importance = stored_as(Item::single, draw.update("importance", V));
    for (float& value : importance.value) value *= value;
    const auto integers = [&](const char* name, std::int64_t limit) {
        return stored_as(Item::id, integer_input(name, draw.integers(V, limit)));
    };
    op.buffers = {importance, integers("loss_sum", 1 << 24), integers("count", 4),
                  stored_as(Item::wide, {"norm", Role::input, {static_cast<float>(norm)}}),
                  stored_as(Item::wide, {"loss", Role::input, {2.5f}})};
    op.set_run([=](auto& exec, const auto& b) {
        update_importance(exec, b.single(0), b.id(1), b.id(2), b.wide(3), b.wide(4), V, 0.9);
    });
    op.tolerance = 1e-14;  // the sum may be rounded once or twice
    op.set_work(update_importance_work(V));
    return op;
}

struct EntryLossSizes {
    std::int64_t n, V;
};

inline void add_token_selection_cases(CaseTable& table) {
    for (const SelectionShape& s : selection_shapes(table.sizes())) {
        table.add([=](Draw draw) { return select_random_tokens_case(draw, s); });
        table.add([=](Draw draw) { return select_important_tokens_case(draw, s, false); });
        table.add([=](Draw draw) { return pack_kept_tokens_case(draw, s.layers, s.B, s.T, s.K); });
        if (s.padded) table.add([=](Draw draw) { return select_important_tokens_case(draw, s, true); });
    }
    std::vector<EntryLossSizes> sizes = {{1, 1}, {333, 7}, {65, 700}};
    std::vector<std::int64_t> vocabularies = {1, 257, 3001};
    if (table.sizes() == Sizes::model) {
        sizes.clear();
        vocabularies.clear();
        for (const ModelSizes& m : model_sizes()) {
            if (!vocabularies.empty() && vocabularies.back() == m.V) continue;
            sizes.push_back({m.rows(), m.V});
            vocabularies.push_back(m.V);
        }
    }
    for (const Accumulate accumulate : {Accumulate::no, Accumulate::yes})
        for (const EntryLossSizes& s : sizes)
            table.add([=](Draw draw) { return add_entry_losses_case(draw, s.n, s.V, accumulate); });
    for (const std::int64_t V : vocabularies) table.add([=](Draw draw) { return update_importance_case(draw, V, 1); });
    if (table.sizes() == Sizes::odd) table.add([](Draw draw) { return update_importance_case(draw, 65, NAN); });
}

}  // namespace deft::kernels::cases
