#pragma once
// The rows that are routed to experts, the counters of their random draws, and the capacity of an expert. Every
// backend shares these functions, so that every backend routes alike.

#include <cmath>
#include <cstdint>

#include "kernels/decimal_rounding.h"
#include "kernels/philox.h"
#include "kernels/step_value.h"

namespace deft::kernels {

// N rows of B samples, (B, K), or packed: sample b has the rows from start[b] to before start[b + 1].
struct RoutedRows {
    std::int64_t N = 0, B = 0, K = 0;
    const std::int32_t* length = nullptr;  // (B) real rows of each sample, which come first; null: all are
    const std::int32_t* start = nullptr;   // (B + 1); null: none are packed
    std::uint64_t seed = 0;
    StepValue<std::uint64_t> step = 0;
    std::uint32_t layer = 0;
    const std::int64_t* draw = nullptr;  // (B) the number of each sample's draw, read where something is drawn

    // The position of a row.
    struct Place {
        std::int64_t sample, position;  // position: in its sample
        bool is_real;                   // padding is never routed
    };
    DEFT_HOST_DEVICE Place place(std::int64_t row) const {
        if (start == nullptr) {
            const std::int64_t sample = row / K, position = row % K;
            return {sample, position, length == nullptr || position < length[sample]};
        }
        std::int64_t sample = 0, end = B;  // the last sample that starts at the row or before it
        while (end - sample > 1) {
            const std::int64_t middle = (sample + end) / 2;
            (start[middle] <= row ? sample : end) = middle;
        }
        return {sample, row - start[sample], row < start[B]};
    }
    DEFT_HOST_DEVICE std::int64_t real_rows() const {
        if (start != nullptr) return start[B] < N ? start[B] : N;
        if (length == nullptr) return N;
        std::int64_t rows = 0;
        for (std::int64_t b = 0; b < B; ++b) rows += length[b] < K ? length[b] : K;
        return rows;
    }
    // Word `item` of a row that has `items` of them.
    DEFT_HOST_DEVICE std::uint32_t word(const Place& at, RandomPurpose purpose, std::int64_t items,
                                        std::int64_t item) const {
        constexpr std::int64_t kWords = 4;  // of a block
        const std::int64_t blocks = (items + kWords - 1) / kWords;
        return philox_block(seed, purpose, step.get(), layer, static_cast<std::uint64_t>(draw[at.sample]),
                            static_cast<std::uint32_t>(at.position * blocks + item / kWords))
            .word[item % kWords];
    }
};

// How rows choose among E experts, k of them each (k <= E).
struct RouteSpec {
    std::int64_t E = 1, k = 1;
    // An expert is sampled by the softmax, as the highest sum of a logit and a Gumbel draw (Gumbel 1954; Maddison et
    // al. 2014, section 2): the one expert, or of several all but the first.
    bool is_sampled = false;

    DEFT_HOST_DEVICE bool draws(std::int64_t choice) const { return is_sampled && (k == 1 || choice > 0); }
};

// The score compared for choice `choice`, in double: sums of a logit and a draw that differ do so everywhere.
DEFT_HOST_DEVICE inline double routing_score(const RoutedRows& rows, const RoutedRows::Place& at, const RouteSpec& spec,
                                             std::int64_t choice, std::int64_t expert, double logit) {
    if (!spec.draws(choice)) return logit;
    const double uniform = philox_uniform(rows.word(at, RandomPurpose::expert_choice, spec.E, expert));
    return logit - std::log(-std::log(uniform));
}

// How many rows an expert takes.
struct CapacitySpec {
    double factor = 0;               // of an equal share; 0: no limit
    std::int64_t least = 0;          // whatever the share
    bool selects_at_random = false;  // of too many choices, those with the largest draws stay, not the first ones

    bool operator==(const CapacitySpec&) const = default;
};

// max(least, ceil(rows k factor / E)), with the factor as its decimal digits say; rows: those that are there (Lepikhin
// et al. 2020, section 2.2).
DEFT_HOST_DEVICE inline std::int64_t expert_capacity(const CapacitySpec& capacity, std::int64_t rows, std::int64_t E,
                                                     std::int64_t k) {
    const double share = ceil_of_decimal(static_cast<double>(rows * k) * capacity.factor / static_cast<double>(E));
    const auto most = static_cast<double>(rows);  // no row chooses an expert twice
    const auto own = static_cast<std::int64_t>(share < most ? share : most);
    return own > capacity.least ? own : capacity.least;
}

// How urgently an expert that has too many choices keeps one of a row: the smallest keys first, the lower row where
// keys are equal. A choice of another expert has the last key.
inline constexpr std::uint32_t kNoChoice = 0xFFFFFFFFu;
DEFT_HOST_DEVICE inline std::uint32_t capacity_key(const RoutedRows& rows, std::int64_t row, std::int64_t k,
                                                   std::int64_t choice) {
    return 0x7FFFFFFFu - (rows.word(rows.place(row), RandomPurpose::expert_capacity, k, choice) >> 1);
}

// The choices of a row that the balance loss counts: for top-2 only the first (Lepikhin et al. 2020, algorithm 1), for
// larger k all, each with weight 1 / k.
DEFT_HOST_DEVICE inline std::int64_t balanced_choices(std::int64_t k) {
    return k <= 2 ? 1 : k;
}

// The weights of several experts are divided by their sum, which is taken for no less than this.
inline constexpr double kLeastWeightSum = 1.1920928955078125e-7;  // float's epsilon

// Outputs of gate_losses.
inline constexpr std::int64_t kGateLosses = 3;
enum GateLoss { kBalanceLoss, kZLoss, kGateEntropy };

// Outputs of sum_routing for E experts: choices per expert, kept choices per expert, the number of real rows, and
// the losses above.
struct RoutingTotals {
    std::int64_t E = 1;
    DEFT_HOST_DEVICE std::int64_t chosen(std::int64_t expert) const { return expert; }
    DEFT_HOST_DEVICE std::int64_t kept(std::int64_t expert) const { return E + expert; }
    DEFT_HOST_DEVICE std::int64_t rows() const { return 2 * E; }
    DEFT_HOST_DEVICE std::int64_t loss(std::int64_t which) const { return 2 * E + 1 + which; }
    DEFT_HOST_DEVICE std::int64_t size() const { return 2 * E + 1 + kGateLosses; }
};

// Values of a row times a uniform factor between 1 - epsilon and 1 + epsilon (Fedus et al. 2021, section 2.2).
DEFT_HOST_DEVICE inline double jitter_factor(const RoutedRows& rows, const RoutedRows::Place& at, std::int64_t columns,
                                             std::int64_t column, double epsilon) {
    return 1 + epsilon * (2 * philox_uniform(rows.word(at, RandomPurpose::expert_jitter, columns, column)) - 1);
}

}  // namespace deft::kernels
