#pragma once
// Random layerwise token dropping: every routed layer keeps the K positions of a sample with the smallest random keys.
// A key is drawn by (seed, step, layer, global sample id, position), so that the sets are independent over samples,
// layers and steps, and the same however a batch is split over micro-batches and ranks.
//
// Padding is kept last, which is ours: the published code draws among all positions, and so spends kept rows on
// padding.

#include <vector>

#include "engine/core/exec.h"
#include "engine/core/ops.h"
#include "engine/data_efficiency/routing/routing.h"

namespace deft::engine {

struct RandomLtdRouter {
    std::vector<std::int32_t> layers;
    Tensor layer_id;  // (routed layers) i32: `layers` on the device

    void start(Exec& exec) const { write_tensor(exec, layer_id, layers.data()); }
    // index (routed layers, B, K)
    void select(Exec& exec, Tensor index, std::int64_t keep_first, const MicroBatch& batch) const {
        select_random_tokens(exec, index, batch.seed, batch.step, layer_id, batch.sample_id, batch.token.dim(1),
                             keep_first, batch.length);
    }
    // Its choices depend on no loss.
    void observe(Exec&, Tensor, Tensor, Accumulate) const {}
    void finish_step(Exec&, Tensor, Tensor) const {}
    Tensor state() const { return {}; }
};

}  // namespace deft::engine
