#pragma once
// A router chooses, for each micro-batch, the tokens that each routed layer takes. Every router is a struct with
// start, select, observe, finish_step and state; a new one is a struct with these in the variant below.

#include <variant>
#include <vector>

#include "engine/core/arena.h"
#include "engine/data_efficiency/routing/random_ltd.h"
#include "engine/data_efficiency/routing/routing.h"
#include "engine/data_efficiency/routing/token_bypass.h"
#include "engine/data_efficiency/techniques.h"
#include "engine/models/transformer.h"
#include "engine/nn/rows.h"

namespace deft::engine {

struct Router {
    std::vector<std::int32_t> set_of_layer;  // (layers): see KeptTokens
    std::int64_t keep_first = 0;
    Tensor index;  // (sets, max_batch, max_seqlen) i32
    std::variant<RandomLtdRouter, TokenBypassRouter> method;
};

// Plans its buffers for micro-batches of at most max_batch samples. Errors: config, for layers or special tokens that
// the model has not.
Router plan_router(Arena& arena, const Routing& routing, const TransformerConfig& model, const Backend& backend,
                   std::int64_t max_batch);

// What it holds before the first step.
void start_router(Exec& exec, const Router& router);

// The kept tokens of a micro-batch, valid as long as the router and until the next call; empty where the plan drops
// none. index is ascending in each row, and names real tokens before padding, so that the first min(K, length) are
// real.
KeptTokens route(Exec& exec, const Router& router, const StepPlan& plan, const MicroBatch& batch);

// Takes notice of a micro-batch's losses (B, T); Accumulate::no for the first one of a step.
void observe_losses(Exec& exec, const Router& router, Tensor target, Tensor loss, Accumulate accumulate);

// Learns from the step's losses, unless grad_norm or total_loss, (1) f64, is not finite: then the step did not count.
void finish_step(Exec& exec, const Router& router, Tensor grad_norm, Tensor total_loss);

// What it has learnt, f32, to be kept with a checkpoint; empty where it learns nothing.
Tensor router_state(const Router& router);

}  // namespace deft::engine
