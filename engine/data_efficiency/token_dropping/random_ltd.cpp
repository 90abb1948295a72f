// Random layerwise token dropping (Yao et al. 2022, arXiv 2211.11586): every layer that drops keeps the K positions of
// a sample with the smallest random keys. A key is drawn by (seed, step, layer, number of the sample's draw, position),
// so that the sets are independent over layers, steps and draws, be they of one sample, and the same however a batch is
// split over micro-batches and ranks. The rows of a reshaped step hold parts of several samples: row r is numbered as
// draw r of the step.
//
// Padding is kept last, which is ours: the published code draws among all positions, and so spends kept rows on
// padding.

#include "engine/core/exec.h"
#include "engine/data_efficiency/token_dropping/token_dropping.h"

namespace deft::engine {

namespace {

struct RandomLtdSettings {};

// arXiv 2212.03597, section 3: all but the first and last.
std::vector<std::int32_t> all_but_first_and_last(std::int64_t layers) {
    return layer_range(1, layers - 2);
}

TokenChoice plan_random_ltd(Arena& arena, std::span<const std::int32_t> layers, std::int64_t, const void*) {
    const std::vector<std::int32_t> ids(layers.begin(), layers.end());
    const Tensor layer_id =
        arena.add(Region::activations, "dropping_layer", DType::i32, {static_cast<std::int64_t>(ids.size())});
    TokenChoice choice;
    choice.start = [=](Exec& exec) { write_tensor(exec, layer_id, ids.data()); };
    choice.select = [=](Exec& exec, Tensor index, std::int64_t keep_first, const MicroBatch& batch) {
        select_random_tokens(exec, index, batch.seed, batch.step, layer_id, batch.draw, batch.T, keep_first,
                             batch.length);
    };
    return choice;
}

}  // namespace

TokenDropper random_ltd_dropper() {
    return {
        .name = "random_ltd",
        .meaning = "Random layerwise token dropping: layers process a growing random subset of each sample's tokens.",
        .default_layers = all_but_first_and_last,
        .default_layers_text = "all except the first and last",
        .one_set = false,
        .reads_tokens = false,
        .keys = {},
        .new_settings = []() -> std::shared_ptr<void> { return std::make_shared<RandomLtdSettings>(); },
        .plan = plan_random_ltd};
}

}  // namespace deft::engine
