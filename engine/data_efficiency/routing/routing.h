#pragma once
// Token routing: which layers take only some of a sample's tokens, how many, and who chooses them. The other tokens
// pass those layers by, unchanged.

#include <cstdint>
#include <variant>
#include <vector>

#include "engine/core/tensor.h"
#include "engine/data_efficiency/sampling/pacing.h"

namespace deft::engine {

// Random layerwise token dropping (Yao et al. 2022, arXiv 2211.11586): every routed layer keeps a random set of its
// own.
struct RandomLtd {};

// One kept set for all routed layers, of the tokens that are hardest to predict (see token_bypass.h).
struct TokenBypass {
    double decay = 0.995;                      // of the moving average of losses, a step
    std::vector<std::int32_t> special_tokens;  // kept always, as far as there is room
};

struct Routing {
    Pacing kept;                       // tokens of each sample in the routed layers; min == max: constant
    std::vector<std::int32_t> layers;  // the routed ones, ascending from 0
    std::int64_t keep_first = 0;       // positions kept always (1: a [CLS] token); at most kept.min
    std::variant<RandomLtd, TokenBypass> method;
};

// Layers first .. last.
std::vector<std::int32_t> layer_range(std::int64_t first, std::int64_t last);
// What random-LTD routes if nothing else is asked for (section 3): all but the first and last of so many layers.
std::vector<std::int32_t> all_but_first_and_last(std::int64_t layers);
// What TokenBypass routes if nothing else is asked for: half of the layers, rounded down, in the middle; of an odd rest
// the smaller part comes before. Ours: Hou et al. route from the middle up to the layer before the last.
std::vector<std::int32_t> middle_half(std::int64_t layers);

// random-LTD on its default layers.
Routing random_ltd(std::int64_t layers, const Pacing& kept);
// TokenBypass on its default layers.
Routing token_bypass(std::int64_t layers, const Pacing& kept);

// What a router may look at.

struct MicroBatch {
    std::uint64_t seed = 0;
    std::int64_t step = 0;  // from 0
    Tensor sample_id;       // (B) i64: global ids
    Tensor token;           // (B, T) i32
    Tensor length;          // (B) i32: real tokens; empty: all are
};

}  // namespace deft::engine
