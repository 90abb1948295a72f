#pragma once
// What a token and its position become: the sum of two learned vectors (Radford et al. 2018, section 3.1).

#include <cstdint>

#include "engine/core/ops.h"
#include "engine/nn/planner.h"

namespace deft::engine {

class Embedding {
 public:
    Embedding(const Planner&, std::int64_t vocab, std::int64_t max_seqlen, std::int64_t width);

    // out (B, T, C), token (B, T)
    void forward(Exec&, Tensor out, Tensor token) const;
    // Of a tied head, which has written the gradient of the tokens' table before, of_tokens is yes.
    void backward(Exec&, Tensor dout, Tensor token, Accumulate of_tokens, Accumulate of_positions) const;

    const Parameter& tokens() const { return tokens_; }

 private:
    Parameter tokens_, positions_;  // (V, C), (max_T, C)
};

}  // namespace deft::engine
