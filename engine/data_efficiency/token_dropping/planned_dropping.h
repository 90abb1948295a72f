#pragma once
// Token dropping of one model, with its memory: what a training step asks.

#include <cstdint>
#include <vector>

#include "engine/core/arena.h"
#include "engine/data_efficiency/techniques.h"
#include "engine/data_efficiency/token_dropping/token_dropping.h"
#include "engine/models/transformer.h"
#include "engine/nn/rows.h"

namespace deft::engine {

struct PlannedDropping {
    std::vector<std::int32_t> set_of_layer;  // (layers): see KeptTokens
    std::int64_t keep_first = 0;
    Tensor index;  // (sets, max_batch, max_seqlen) i32
    // For packed samples: the same tokens as rows of the stream and in their samples, and where each sample starts.
    Tensor packed_index, packed_position, kept_start;  // both like index, (max_batch max_seqlen + 1) i32
    TokenChoice choice;
};

// Plans its buffers for micro-batches of at most max_batch samples. Errors: config, for layers or settings that do not
// fit the model.
PlannedDropping plan_dropping(Arena& arena, const TokenDropping& dropping, const TransformerConfig& model,
                              const Backend& backend, std::int64_t max_batch);

// The kept tokens of a micro-batch, valid until the next call; empty where the plan drops none.
KeptTokens kept_tokens(Exec& exec, const PlannedDropping& dropping, const StepPlan& plan, const MicroBatch& batch);

}  // namespace deft::engine
