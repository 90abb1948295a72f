#pragma once
// Cases of sums over ranks.

#include "kernels/cases/case_table.h"
#include "kernels/reference/sum_ranks.h"

namespace deft::kernels::cases {

// Values of the ranks: gradients, losses and norms, or counts.
inline OpCase sum_ranks_case(Draw draw, Item item, std::int64_t n, int rank, int ranks) {
    OpCase op;
    const char* const type = item == Item::sum ? "" : item == Item::wide ? " wide" : " counts";
    op.name = shape_text("sum_ranks", ranks, n) + type + " rank " + std::to_string(rank);
    op.buffers = {draw.update("sums", n), draw.input("others", ranks * n)};
    op.buffers[0].floor = 1;  // a sum over ranks
    for (Buffer& buffer : op.buffers) {
        buffer.item = item;
        if (item == Item::id)
            for (float& value : buffer.value) value = static_cast<float>(static_cast<int>(1000 * value));
    }
    op.set_run([=](auto& exec, const auto& b) {
        if (item == Item::sum) return sum_ranks(exec, b.sum(0), b.sum(1), n, rank, ranks);
        if (item == Item::wide) return sum_ranks(exec, b.wide(0), b.wide(1), n, rank, ranks);
        sum_ranks(exec, b.id(0), b.id(1), n, rank, ranks);
    });
    op.tolerance = item == Item::sum ? 1e-12 : 0;
    op.set_work(sum_ranks_work(n, ranks, item == Item::sum ? 4 : 8));
    return op;
}

inline void add_sum_ranks_cases(CaseTable& table) {
    if (table.sizes() == Sizes::model) {
        table.add([](Draw draw) { return sum_ranks_case(draw, Item::sum, 1 << 20, 3, 8); });
        return;
    }
    for (const std::int64_t n : {1, 3, 129, 516, 5003})
        for (const auto& [rank, ranks] : {std::pair{0, 2}, {1, 2}, {1, 3}, {4, 5}})
            for (const Item item : {Item::sum, Item::wide, Item::id})
                table.add([=](Draw draw) { return sum_ranks_case(draw, item, n, rank, ranks); });
}

}  // namespace deft::kernels::cases
