#include "results_db/point_row.h"

#include "results_db/nonfinite.h"

namespace deft::results_db {

journal::TrainPoint point_of(const Statement& row, int first) {
    const std::int64_t kinds = row.integer(first + 12);
    journal::TrainPoint point;
    point.step = row.integer(first);
    point.input_tokens = row.integer(first + 1);
    point.unique_tokens = row.integer(first + 2);
    point.layer_tokens = row.integer(first + 3);
    point.flops = restore(row.real(first + 4), kinds);
    point.wall_ms = row.integer(first + 5);
    point.loss = restore(row.real(first + 6), kinds >> 2);
    point.lr = restore(row.real(first + 7), kinds >> 4);
    point.grad_norm = restore(row.real(first + 8), kinds >> 6);
    point.tokens_per_second = restore(row.real(first + 9), kinds >> 8);
    point.seqlen = row.integer(first + 10);
    point.kept_tokens = row.integer(first + 11);
    return point;
}

}  // namespace deft::results_db
