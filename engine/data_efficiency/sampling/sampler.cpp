#include "engine/data_efficiency/sampling/sampler.h"

#include <algorithm>
#include <numeric>

namespace deft::engine {

namespace {

// Splits `draws` by how many draws each cluster lags its share; the quotas sum to `draws`.
std::vector<std::int64_t> quotas(std::int64_t draws, const std::vector<double>& lag) {
    std::vector<std::int64_t> quota(lag.size());
    std::int64_t given = 0;
    for (std::size_t c = 0; c < lag.size(); ++c) {
        quota[c] = std::max<std::int64_t>(0, static_cast<std::int64_t>(lag[c]));
        given += quota[c];
    }
    std::vector<std::size_t> by_need(lag.size());
    std::iota(by_need.begin(), by_need.end(), std::size_t{0});
    std::stable_sort(by_need.begin(), by_need.end(), [&](std::size_t a, std::size_t b) {
        return lag[a] - static_cast<double>(quota[a]) > lag[b] - static_cast<double>(quota[b]);
    });
    for (std::size_t i = 0; given < draws; ++i, ++given) ++quota[by_need[i % by_need.size()]];
    for (std::size_t i = by_need.size(); given > draws; i = i == 0 ? by_need.size() : i) {
        std::int64_t& least_needy = quota[by_need[--i]];
        if (least_needy == 0) continue;
        --least_needy;
        --given;
    }
    return quota;
}

// In (-1/2, 1/2). Layer 1: layer 0 of this purpose keys the permutations of draws.
double first_lag(std::uint64_t seed, std::size_t cluster) {
    return kernels::philox_uniform(kernels::philox_u32(seed, kernels::RandomPurpose::draw_order, cluster, 1, 0, 0)) -
           0.5;
}

}  // namespace

Sampler::Sampler(std::uint64_t seed, std::int64_t samples) : seed_(seed), cluster_start_{0, samples} {
    make_first_orders();
}

Sampler::Sampler(std::uint64_t seed, Admission admission, std::int64_t steps,
                 const std::function<std::int64_t(std::int64_t)>& draws_before)
    : seed_(seed), cluster_start_{0}, admission_(std::move(admission)) {
    const std::vector<AdmissionPhase>& admitted = admission_.phases;
    std::vector<double> lag;          // (clusters), draws owed and not yet given
    std::vector<std::int64_t> drawn;  // (clusters)
    for (std::size_t p = 0; p < admitted.size(); ++p) {
        cluster_start_.push_back(admitted[p].admitted);
        // A random first lag, so that over many seeds each draw takes every admitted sample equally often.
        lag.push_back(first_lag(seed, p));
        drawn.push_back(0);
        const std::int64_t first_draw = draws_before(admitted[p].first_step);
        const std::int64_t draws =
            draws_before(p + 1 < admitted.size() ? admitted[p + 1].first_step : steps) - first_draw;
        Phase phase{first_draw, draws, mix_of(p, draws, 0), {}, {}};
        for (std::size_t c = 0; c <= p; ++c)
            lag[c] += static_cast<double>(phase.draws) *
                      static_cast<double>(cluster_start_[c + 1] - cluster_start_[c]) /
                      static_cast<double>(admitted[p].admitted);
        const std::vector<std::int64_t> quota = quotas(phase.draws, lag);
        phase.drawn_before = drawn;
        std::int64_t begin = 0;
        for (std::size_t c = 0; c <= p; ++c) {
            phase.begins.push_back(begin);
            begin += quota[c];
            drawn[c] += quota[c];
            lag[c] -= static_cast<double>(quota[c]);
        }
        phases_.push_back(std::move(phase));
    }
    make_first_orders();
}

Permutation Sampler::mix_of(std::size_t phase, std::int64_t draws, std::int64_t round) const {
    return {static_cast<std::uint64_t>(draws), seed_, kernels::RandomPurpose::draw_order,
            static_cast<std::uint64_t>(phase + 1) | static_cast<std::uint64_t>(round) << 32};
}

Permutation Sampler::order_of(std::size_t cluster, std::int64_t epoch) const {
    return {static_cast<std::uint64_t>(cluster_start_[cluster + 1] - cluster_start_[cluster]), seed_,
            kernels::RandomPurpose::sample_order,
            static_cast<std::uint64_t>(epoch) | static_cast<std::uint64_t>(cluster) << 32};
}

void Sampler::make_first_orders() {
    for (std::size_t c = 0; c + 1 < cluster_start_.size(); ++c)
        for (std::int64_t epoch = 0; epoch < kEpochsAhead; ++epoch) first_orders_.push_back(order_of(c, epoch));
}

std::int64_t Sampler::from_cluster(std::size_t cluster, std::int64_t position) const {
    const std::int64_t start = cluster_start_[cluster], size = cluster_start_[cluster + 1] - start;
    const std::int64_t epoch = position < size ? 0 : position / size;
    const auto i = static_cast<std::uint64_t>(position - epoch * size);
    if (epoch >= kEpochsAhead) return start + static_cast<std::int64_t>(order_of(cluster, epoch)(i));
    return start +
           static_cast<std::int64_t>(first_orders_[cluster * kEpochsAhead + static_cast<std::size_t>(epoch)](i));
}

std::size_t Sampler::phase_of(std::int64_t draw) const {
    const auto after = std::upper_bound(phases_.begin(), phases_.end(), draw,
                                        [](std::int64_t d, const Phase& phase) { return d < phase.first_draw; });
    return static_cast<std::size_t>(after - phases_.begin()) - 1;
}

std::int64_t Sampler::pool_size(std::int64_t draw) const {
    return phases_.empty() ? samples() : admission_.phases[phase_of(draw)].admitted;
}

std::int64_t Sampler::rank_of(std::int64_t draw) const {
    if (phases_.empty()) return from_cluster(0, draw);
    const std::size_t p = phase_of(draw);
    const Phase& phase = phases_[p];
    // Beyond the planned end, the last phase begins again where it stopped. Division takes as long as a permutation's
    // round, and is rarely needed.
    std::int64_t in_phase = draw - phase.first_draw, round = 0;
    if (in_phase >= phase.draws) {
        round = in_phase / phase.draws;
        in_phase -= round * phase.draws;
    }
    const auto i = static_cast<std::uint64_t>(in_phase);
    const auto mixed = static_cast<std::int64_t>(round == 0 ? phase.mix(i) : mix_of(p, phase.draws, round)(i));
    const auto next = std::upper_bound(phase.begins.begin(), phase.begins.end(), mixed);
    const auto c = static_cast<std::size_t>(next - phase.begins.begin()) - 1;
    const std::int64_t quota = (next == phase.begins.end() ? phase.draws : *next) - phase.begins[c];
    return from_cluster(c, phase.drawn_before[c] + round * quota + mixed - phase.begins[c]);
}

Sampler::Draw Sampler::at(std::int64_t draw) const {
    const std::int64_t rank = rank_of(draw);
    return {phases_.empty() ? rank : admission_.member[rank], rank};
}

void Sampler::fill(std::int64_t first, std::span<Draw> draws) const {
    const auto* member = static_cast<const char*>(admission_.member.data);
    for (Draw& draw : draws) {
        draw.rank = draw.sample = rank_of(first++);
        if (member != nullptr) __builtin_prefetch(member + draw.rank * admission_.member.type.bytes);
    }
    if (member == nullptr) return;
    for (Draw& draw : draws) draw.sample = admission_.member[draw.rank];
}

}  // namespace deft::engine
