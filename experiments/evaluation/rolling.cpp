#include "experiments/evaluation/rolling.h"

#include <algorithm>

namespace deft::experiments {

std::vector<Request> rolling_windows(std::span<const std::int32_t> tokens, std::int32_t prefix,
                                     std::int64_t max_length) {
    const auto L = static_cast<std::size_t>(max_length);
    std::vector<Request> windows;
    for (std::size_t begin = 0; begin < tokens.size();) {
        const std::size_t end = std::min(begin + L, tokens.size());
        Request window;
        if (begin == 0) {
            window.context = {prefix};
        } else {
            const std::size_t first = end - L - 1;  // end > L from the second window on
            window.context.assign(tokens.begin() + static_cast<std::ptrdiff_t>(first),
                                  tokens.begin() + static_cast<std::ptrdiff_t>(begin));
        }
        window.continuation.assign(tokens.begin() + static_cast<std::ptrdiff_t>(begin),
                                   tokens.begin() + static_cast<std::ptrdiff_t>(end));
        windows.push_back(std::move(window));
        begin = end;
    }
    return windows;
}

std::vector<Request> fitting_requests(const Request& request, std::int64_t max_length) {
    if (static_cast<std::int64_t>(request.continuation.size()) <= max_length) return {request};
    return rolling_windows(request.continuation, request.context.back(), max_length);
}

}  // namespace deft::experiments
