#pragma once
// A router with memory of its own, on the CPU.

#include <memory>
#include <vector>

#include "engine/data_efficiency/routing/router.h"
#include "tests/engine/tiny.h"

namespace deft::engine {

struct SmallRouter {
    TransformerConfig model;
    Arena arena;
    Router router;
    Exec exec;

    SmallRouter(const Routing& routing, std::int64_t layers, std::int64_t T, std::int64_t vocab, std::int64_t max_batch)
        : model{layers, 8, 1, T, vocab, 0.02} {
        router = plan_and_commit(arena, [&](Arena& a) {
            return plan_router(a, routing, model, Backend{}, max_batch);
        });
        exec = make_exec(Backend{}, arena);
        start_router(exec, router);
    }

    // The kept positions (sets, B, K) of these samples; token (B, T) and length (B) may be empty.
    std::vector<std::int32_t> select(std::int64_t K, std::vector<std::int64_t> sample, std::uint64_t seed = 1,
                                     std::int64_t step = 0, std::vector<std::int32_t> token = {},
                                     std::vector<std::int32_t> length = {}) {
        const auto B = static_cast<std::int64_t>(sample.size());
        const std::int64_t T = model.max_seqlen;
        token.resize(static_cast<std::size_t>(B * T));
        StepPlan plan;
        plan.seqlen = T;
        plan.kept = K;
        MicroBatch batch{seed, step, make_tensor(sample.data(), DType::i64, {B}),
                         make_tensor(token.data(), DType::i32, {B, T}), {}};
        if (!length.empty()) batch.length = make_tensor(length.data(), DType::i32, {B});
        const KeptTokens kept = route(exec, router, plan, batch);
        return kept.index ? values<std::int32_t>(kept.index) : std::vector<std::int32_t>{};
    }

    // A step of these losses, in micro-batches of `at_once`.
    void learn(std::vector<float> loss, std::vector<std::int32_t> target, std::size_t at_once, double total_loss = 1) {
        for (std::size_t first = 0; first < loss.size(); first += at_once) {
            const auto n = static_cast<std::int64_t>(std::min(at_once, loss.size() - first));
            observe_losses(exec, router, make_tensor(target.data() + first, DType::i32, {1, n}),
                           make_tensor(loss.data() + first, DType::f32, {1, n}),
                           first == 0 ? Accumulate::no : Accumulate::yes);
        }
        double norm = 1;
        engine::finish_step(exec, router, make_tensor(&norm, DType::f64, {1}),
                            make_tensor(&total_loss, DType::f64, {1}));
    }
};

// Every one of `layers` keeps K tokens.
inline Routing random_ltd_on(std::vector<std::int32_t> layers, std::int64_t K, std::int64_t keep_first = 0) {
    return {{K, K, 1, 0, 1}, std::move(layers), keep_first, RandomLtd{}};
}

}  // namespace deft::engine
