#pragma once
// Token dropping with memory of its own, on the CPU.

#include <memory>
#include <vector>

#include "engine/data_efficiency/token_dropping/planned_dropping.h"
#include "tests/engine/tiny.h"

namespace deft::engine {

struct SmallDropping {
    TransformerConfig model;
    Arena arena;
    PlannedDropping planned;
    Exec exec;

    SmallDropping(const TokenDropping& dropping, std::int64_t layers, std::int64_t T, std::int64_t vocab,
                  std::int64_t max_batch)
        : model(gpt2_config(layers, 8, 1, T, vocab)) {
        planned =
            plan_and_commit(arena, [&](Arena& a) { return plan_dropping(a, dropping, model, Backend{}, max_batch); });
        exec = make_exec(Backend{}, arena);
        planned.choice.start(exec);
    }

    // The kept positions (sets, B, K) of samples of these draws; token (B, T) and length (B) may be empty.
    std::vector<std::int32_t> select(std::int64_t K, std::vector<std::int64_t> draw, std::uint64_t seed = 1,
                                     std::int64_t step = 0, std::vector<std::int32_t> token = {},
                                     std::vector<std::int32_t> length = {}) {
        const auto B = static_cast<std::int64_t>(draw.size());
        const std::int64_t T = model.max_seqlen;
        token.resize(static_cast<std::size_t>(B * T));
        StepPlan plan;
        plan.seqlen = T;
        plan.kept = K;
        MicroBatch batch{
            seed, step, T, make_tensor(draw.data(), DType::i64, {B}), make_tensor(token.data(), DType::i32, {B, T}),
            {}};
        if (!length.empty()) batch.length = make_tensor(length.data(), DType::i32, {B});
        const KeptTokens kept = kept_tokens(exec, planned, plan, batch);
        return kept.index ? values<std::int32_t>(kept.index) : std::vector<std::int32_t>{};
    }

    // A step of these losses, in micro-batches of `at_once`.
    void learn(std::vector<float> loss, std::vector<std::int32_t> target, std::size_t at_once, double total_loss = 1) {
        for (std::size_t first = 0; first < loss.size(); first += at_once) {
            const auto n = static_cast<std::int64_t>(std::min(at_once, loss.size() - first));
            planned.choice.observe(exec, make_tensor(target.data() + first, DType::i32, {1, n}),
                                   make_tensor(loss.data() + first, DType::f32, {1, n}),
                                   first == 0 ? Accumulate::no : Accumulate::yes);
        }
        double norm = 1;
        planned.choice.finish_step(exec, make_tensor(&norm, DType::f64, {1}),
                                   make_tensor(&total_loss, DType::f64, {1}));
    }
};

// Every one of `layers` keeps K tokens.
inline TokenDropping random_ltd_on(std::vector<std::int32_t> layers, std::int64_t K, std::int64_t keep_first = 0) {
    return {{K, K, 1, 0, 1}, std::move(layers), keep_first, &token_dropper("random_ltd"), {}};
}

}  // namespace deft::engine
