#pragma once
// Long texts scored window by window.

#include <cstdint>
#include <span>
#include <vector>

#include "experiments/evaluation/scoring.h"

namespace deft::experiments {

// Windows that predict every token exactly once, as lm-evaluation-harness cuts them (its form of 0.3.0, which mends a
// window of one token): each predicts at most max_length tokens; the first has the prefix as its context, each later
// one the tokens before it, as many as fit: max_length + 1 less those it predicts. Only the last has a long context.
std::vector<Request> rolling_windows(std::span<const std::int32_t> tokens, std::int32_t prefix,
                                     std::int64_t max_length);

// The request itself where its continuation fits the model, else windows over the continuation, the first after the
// context's last token. Their log-likelihoods add up to the request's.
std::vector<Request> fitting_requests(const Request& request, std::int64_t max_length);

}  // namespace deft::experiments
