#pragma once
// Input of the first block: the sum of the vectors of a token, its position (Radford et al. 2018, section 3.1) and
// of its segment (Devlin et al. 2019, section 3), where a model has them; normalised where it says so.

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/core/ops.h"
#include "engine/nn/norm.h"
#include "engine/nn/patch_embedding.h"
#include "engine/nn/planner.h"
#include "engine/nn/rows.h"
#include "kernels/embedding_tables.h"

namespace deft::engine {

// How a model encodes a token's position. Rotary positions are the attention layers' (AttentionConfig::rope_theta).
enum class Positions { learned, none };

struct InputConfig {
    Positions positions = Positions::learned;
    std::int64_t segments = 0;                // segments with embeddings of their own; 0: none
    std::optional<NormSpec> norm = {};        // of the sum
    double dropout = 0;                       // of what enters the first block
    std::optional<PatchConfig> patches = {};  // of a model of images, which has none of tokens, segments and norm

    bool operator==(const InputConfig&) const = default;
};

// Ids of the rows (B, T), or (1, M) of packed rows.
struct EmbeddingIds {
    Tensor token;
    Tensor segment = {};   // of a model that has segments
    Tensor position = {};  // empty: 0 to T - 1
};

class Embedding {
 public:
    Embedding(const Planner&, std::int64_t vocab, std::int64_t max_seqlen, std::int64_t width, const InputConfig&);

    // out (B, T, C)
    void forward(Exec&, Tensor out, const EmbeddingIds&, const StreamRows&) const;
    // dout (B, T, C) is changed. Of a tied head, which has written the gradient of the tokens' table before, of_tokens
    // is yes.
    void backward(Exec&, Tensor dout, const EmbeddingIds&, const StreamRows&, Accumulate of_tokens, Accumulate) const;

    TrainingFlops flops() const { return norm_ ? norm_->flops() : TrainingFlops{}; }
    const Parameter& tokens() const { return tokens_; }

 private:
    // The tables that there are, or their gradients.
    struct Sources {
        std::array<EmbeddingSource, kernels::kMostEmbeddingTables> source;
        std::size_t count = 0;
        operator std::span<const EmbeddingSource>() const { return {source.data(), count}; }
    };
    template <class WeightOf>
    Sources sources(const EmbeddingIds&, Accumulate of_tokens, Accumulate, const WeightOf&) const;

    InputConfig config_;
    Parameter tokens_, positions_, segments_;  // (V, C), (max_T, C) or empty, (segments, C) or empty
    std::optional<Norm> norm_;
    Tensor sum_, d_sum_;  // (B, T, C): what the norm takes, and scratch "d_branch"
};

}  // namespace deft::engine
