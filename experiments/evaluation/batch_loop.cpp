#include "experiments/evaluation/batch_loop.h"

#include <algorithm>
#include <array>
#include <span>

namespace deft::experiments {

namespace {

// The outcome that `owner` has, on every rank.
void broadcast_outcome(const engine::Communicator& ranks, int owner, BatchOutcome& outcome) {
    const auto each = [&](const auto& what) {
        what(outcome.loss, 0);
        what(outcome.greedy, 1);
        what(outcome.class_loss, 2);
        what(outcome.class_greedy, 3);
        what(outcome.value, 4);
    };
    std::array<std::size_t, 5> sizes{};
    each([&](const auto& values, std::size_t i) { sizes[i] = values.size(); });
    ranks.broadcast(std::as_writable_bytes(std::span(sizes)), owner);
    each([&](auto& values, std::size_t i) {
        values.resize(sizes[i]);
        ranks.broadcast(std::as_writable_bytes(std::span(values)), owner);
    });
}

}  // namespace

BatchOutcome outcome_of(engine::Exec& exec, const engine::Transformer& model, std::int64_t B) {
    BatchOutcome outcome;
    if (model.loss) {
        outcome.loss = engine::host_copy<float>(exec, model.loaded(model.loss));
        outcome.greedy = engine::host_copy<std::int32_t>(exec, model.loaded(model.greedy));
    }
    if (model.class_loss) outcome.class_loss = engine::host_copy<float>(exec, model.class_loss.view({B}));
    if (model.class_greedy) outcome.class_greedy = engine::host_copy<std::int32_t>(exec, model.class_greedy.view({B}));
    if (model.value) outcome.value = engine::host_copy<float>(exec, model.value.view({B}));
    return outcome;
}

void for_each_batch(const BatchLoop& loop, std::int64_t count, const std::function<BatchOutcome(std::int64_t)>& compute,
                    const std::function<void(std::int64_t, const BatchOutcome&)>& take) {
    const std::int64_t ranks = loop.ranks.size();
    for (std::int64_t first = 0; first < count; first += ranks) {
        const std::int64_t own = first + loop.ranks.rank();
        const BatchOutcome computed = compute(std::min(own, count - 1));
        for (std::int64_t batch = first; batch < std::min(count, first + ranks); ++batch) {
            BatchOutcome outcome = batch == own ? computed : BatchOutcome{};
            if (ranks > 1) broadcast_outcome(loop.ranks, static_cast<int>(batch - first), outcome);
            take(batch, outcome);
            if (loop.between_batches) loop.between_batches();
        }
    }
}

}  // namespace deft::experiments
