#pragma once
// Which values dropout keeps (Srivastava et al. 2014, section 4, with the kept ones scaled while training): decided by
// a key and a value's place in its sample, so that a backward pass asks again instead of reading a mask.

#include <cstdint>

#include "kernels/philox.h"
#include "kernels/step_value.h"

namespace deft::kernels {

struct DropoutKey {
    std::uint64_t seed = 0;
    StepValue<std::uint64_t> step = 0;
    std::uint32_t layer = 0;             // which dropout of the model: no two have the same number
    const std::int64_t* draw = nullptr;  // (B) the number of each sample's draw, so that a mask does not depend on how
                                         // a batch is split
    double p = 0;                        // of being dropped, in [0, 1); 0: nothing is
    // (B + 1): packed samples follow one another, sample b in the rows from start[b] to before start[b + 1], of
    // `columns` values each; null: each sample has as many values.
    const std::int32_t* start = nullptr;
    std::int64_t columns = 0;

    // Values whose word is below are dropped.
    std::uint32_t first_kept() const { return static_cast<std::uint32_t>(p * 4294967296.0); }
    double scale() const { return 1 / (1 - p); }

    // How many values sample b has, where N are the most, and which of all is its first.
    DEFT_HOST_DEVICE std::int64_t values(std::int64_t b, std::int64_t N) const {
        return start == nullptr ? N : (start[b + 1] - start[b]) * columns;
    }
    DEFT_HOST_DEVICE std::int64_t first(std::int64_t b, std::int64_t N) const {
        return start == nullptr ? b * N : start[b] * columns;
    }

    // The words of values 4 group to 4 group + 3 of sample b.
    DEFT_HOST_DEVICE PhiloxBlock words(std::int64_t b, std::int64_t group) const {
        return philox_block(seed, RandomPurpose::dropout, step.get(), layer, static_cast<std::uint64_t>(draw[b]),
                            static_cast<std::uint32_t>(group));
    }
};
inline constexpr std::int64_t kDropoutGroup = 4;

}  // namespace deft::kernels
