#include "engine/data_efficiency/routing/routing.h"

namespace deft::engine {

std::vector<std::int32_t> layer_range(std::int64_t first, std::int64_t last) {
    std::vector<std::int32_t> layers;
    for (std::int64_t layer = first; layer <= last; ++layer) layers.push_back(static_cast<std::int32_t>(layer));
    return layers;
}

std::vector<std::int32_t> all_but_first_and_last(std::int64_t layers) {
    return layer_range(1, layers - 2);
}

std::vector<std::int32_t> middle_half(std::int64_t layers) {
    const std::int64_t routed = layers / 2, first = (layers - routed) / 2;
    return layer_range(first, first + routed - 1);
}

Routing random_ltd(std::int64_t layers, const Pacing& kept) {
    return {kept, all_but_first_and_last(layers), 0, RandomLtd{}};
}

Routing token_bypass(std::int64_t layers, const Pacing& kept) {
    return {kept, middle_half(layers), 0, TokenBypass{}};
}

}  // namespace deft::engine
