#include "engine/data_efficiency/sampling/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace deft::engine {

namespace {

constexpr std::size_t kMostPhases = 4096;  // the quota table grows with its square

std::int64_t admitted_by_value(const DifficultyIndex& index, std::int64_t most) {
    std::int64_t low = 0, high = index.samples();
    while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (index.sorted_value(middle) <= most)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

std::int64_t admitted_at(const SampleCurriculum& curriculum, std::int64_t difficulty) {
    const std::int64_t samples = curriculum.index.samples();
    if (!curriculum.percentile) return admitted_by_value(curriculum.index, difficulty);
    return std::max<std::int64_t>(1, samples * std::min<std::int64_t>(difficulty, 100) / 100);
}

// Splits `draws` by how far each cluster lags behind what it is owed; the quotas sum to `draws`.
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

}  // namespace

std::vector<AdmissionPhase> admission_phases(const SampleCurriculum& curriculum, std::int64_t steps) {
    std::vector<AdmissionPhase> phases;
    for (std::int64_t step = 0; step < steps; ++step) {
        const std::int64_t admitted = admitted_at(curriculum, paced_value(curriculum.pacing, step + 1));
        if (phases.empty() || admitted > phases.back().admitted) phases.push_back({step, admitted});
        if (step >= curriculum.pacing.duration) break;  // grown to its end
    }
    if (phases.empty() || phases.front().admitted < 1)
        throw Error(ErrorKind::config,
                    fmt::format("the curriculum begins at difficulty {}, and the easiest sample has {}",
                                curriculum.pacing.min, curriculum.index.sorted_value(0)),
                    "raise its min, or use difficulty = \"percentile\"");
    if (phases.size() > kMostPhases)
        throw Error(ErrorKind::config,
                    fmt::format("the curriculum admits new samples {} times, more than {}", phases.size(), kMostPhases),
                    "raise its difficulty_step");
    return phases;
}

Sampler::Sampler(std::uint64_t seed, std::int64_t samples)
    : seed_(seed), samples_(samples), cluster_start_{0, samples} {}

Sampler::Sampler(std::uint64_t seed, std::int64_t batch_size, const SampleCurriculum& curriculum, std::int64_t steps)
    : seed_(seed), samples_(curriculum.index.samples()), cluster_start_{0}, index_(curriculum.index) {
    const std::vector<AdmissionPhase> admissions = admission_phases(curriculum, steps);
    std::vector<double> lag;             // (clusters), draws owed and not yet given
    std::vector<std::int64_t> drawn;     // (clusters)
    for (std::size_t p = 0; p < admissions.size(); ++p) {
        cluster_start_.push_back(admissions[p].admitted);
        lag.push_back(0);
        drawn.push_back(0);
        const std::int64_t end = p + 1 < admissions.size() ? admissions[p + 1].first_step : steps;
        Phase phase;
        phase.first_draw = admissions[p].first_step * batch_size;
        phase.draws = (end - admissions[p].first_step) * batch_size;
        for (std::size_t c = 0; c <= p; ++c)
            lag[c] += static_cast<double>(phase.draws) * static_cast<double>(cluster_start_[c + 1] - cluster_start_[c]) /
                      static_cast<double>(admissions[p].admitted);
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
}

std::int64_t Sampler::from_cluster(std::int64_t cluster, std::int64_t position) const {
    const auto c = static_cast<std::size_t>(cluster);
    const std::int64_t size = cluster_start_[c + 1] - cluster_start_[c];
    const auto epoch = static_cast<std::uint64_t>(position / size) | static_cast<std::uint64_t>(cluster) << 32;
    const Permutation order(static_cast<std::uint64_t>(size), seed_, kernels::RandomPurpose::sample_order, epoch);
    return cluster_start_[c] + static_cast<std::int64_t>(order(static_cast<std::uint64_t>(position % size)));
}

std::int64_t Sampler::sample_at(std::int64_t draw) const {
    if (phases_.empty()) return from_cluster(0, draw);
    const auto after = std::upper_bound(phases_.begin(), phases_.end(), draw,
                                        [](std::int64_t d, const Phase& phase) { return d < phase.first_draw; });
    const Phase& phase = *(after - 1);
    const std::int64_t in_phase = draw - phase.first_draw;
    // Beyond the planned end, the last phase begins again where it stopped.
    const std::int64_t round = in_phase / phase.draws;
    const Permutation mix(static_cast<std::uint64_t>(phase.draws), seed_, kernels::RandomPurpose::draw_order,
                          static_cast<std::uint64_t>(after - phases_.begin()) |
                              static_cast<std::uint64_t>(round) << 32);
    const auto mixed = static_cast<std::int64_t>(mix(static_cast<std::uint64_t>(in_phase % phase.draws)));
    const auto next = std::upper_bound(phase.begins.begin(), phase.begins.end(), mixed);
    const auto cluster = next - phase.begins.begin() - 1;
    const auto c = static_cast<std::size_t>(cluster);
    const std::int64_t quota = (next == phase.begins.end() ? phase.draws : *next) - phase.begins[c];
    const std::int64_t rank =
        from_cluster(cluster, phase.drawn_before[c] + round * quota + mixed - phase.begins[c]);
    return index_.order[rank];
}

}  // namespace deft::engine
