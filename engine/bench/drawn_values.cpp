#include "engine/bench/drawn_values.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "kernels/philox.h"

namespace deft::engine {

void fill_uniformly(const Tensor& tensor, float scale, std::uint32_t stream) {
    constexpr std::uint64_t kValuesSeed = 1;
    auto* const value = tensor.as<float>();
    for (std::int64_t i = 0; i < tensor.numel(); ++i) {
        const std::uint32_t word = kernels::philox_u32(kValuesSeed, kernels::RandomPurpose::tests, stream, 0,
                                                       static_cast<std::uint64_t>(i), 0);
        value[i] = scale * (static_cast<float>(word >> 8) * 0x1p-23f - 1);
    }
}

bool is_finite_and_not_zero(const Tensor& tensor) {
    const std::span values(tensor.as<float>(), static_cast<std::size_t>(tensor.numel()));
    const bool finite = std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
    return finite && std::any_of(values.begin(), values.end(), [](float x) { return x != 0; });
}

}  // namespace deft::engine
