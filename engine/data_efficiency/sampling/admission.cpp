#include "engine/data_efficiency/sampling/admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.h"

namespace deft::engine {

namespace {

constexpr std::size_t kMostPhases = 4096;  // the sampler's quota table grows with its square
constexpr std::uint16_t kNever = std::numeric_limits<std::uint16_t>::max();

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

std::int64_t admitted_at(const SampleCurriculum& metric, std::int64_t difficulty) {
    const std::int64_t samples = metric.index.samples();
    if (!metric.percentile) return admitted_by_value(metric.index, difficulty);
    const std::int64_t percent = std::min<std::int64_t>(difficulty, 100);
    return std::max<std::int64_t>(1, samples / 100 * percent + samples % 100 * percent / 100);
}

// From `first_step` on, each metric admits its `easiest` samples.
struct Threshold {
    std::int64_t first_step = 0;
    std::vector<std::int64_t> easiest;  // (metrics)
};

std::vector<Threshold> thresholds_of(std::span<const SampleCurriculum> metrics, std::int64_t steps) {
    std::vector<Threshold> thresholds;
    std::vector<std::int64_t> difficulty(metrics.size(), std::numeric_limits<std::int64_t>::min());
    std::vector<std::int64_t> easiest(metrics.size(), 0);
    std::int64_t grown_at = 0;
    for (const SampleCurriculum& metric : metrics) grown_at = std::max(grown_at, metric.pacing.duration);
    for (std::int64_t step = 0; step < std::min(steps, grown_at + 1); ++step) {
        bool grew = thresholds.empty();
        for (std::size_t m = 0; m < metrics.size(); ++m) {
            const std::int64_t now = paced_value(metrics[m].pacing, step + 1);
            if (now == difficulty[m] && !thresholds.empty()) continue;
            difficulty[m] = now;
            const std::int64_t more = std::max(easiest[m], admitted_at(metrics[m], now));
            grew |= more > easiest[m];
            easiest[m] = more;
        }
        if (grew) thresholds.push_back({step, easiest});
        if (thresholds.size() > kMostPhases)
            throw Error(ErrorKind::config,
                        fmt::format("the curriculum admits new samples more than {} times", kMostPhases),
                        "raise its difficulty_step");
    }
    return thresholds;
}

void require_metrics(std::span<const SampleCurriculum> metrics) {
    for (const SampleCurriculum& metric : metrics) {
        const DifficultyIndex& index = metric.index;
        if (index.samples() != metrics.front().index.samples() || index.samples() < 1)
            throw Error(ErrorKind::config,
                        fmt::format("the difficulty {} is of {} samples, and {} of {}", metric.name, index.samples(),
                                    metrics.front().name, metrics.front().index.samples()),
                        "analyse the corpus again");
        if (metric.percentile && index.samples() > 1 &&
            index.sorted_value(0) == index.sorted_value(index.samples() - 1))
            throw Error(ErrorKind::config,
                        fmt::format("every sample has difficulty {} under {}: a percentile of it orders nothing",
                                    index.sorted_text(0), metric.name),
                        "choose another metric");
    }
}

[[noreturn]] void refuse_empty_pool(std::span<const SampleCurriculum> metrics) {
    if (metrics.size() == 1)
        throw Error(ErrorKind::config,
                    fmt::format("the curriculum begins at difficulty {}, and the easiest sample has {}",
                                paced_value(metrics[0].pacing, 1), metrics[0].index.sorted_text(0)),
                    "raise its min, or use difficulty = \"percentile\"");
    std::string names;
    for (const SampleCurriculum& metric : metrics) names += (names.empty() ? "" : ", ") + metric.name;
    throw Error(ErrorKind::config,
                fmt::format("the curriculum begins with no sample: none is easy enough for all of {}", names),
                "raise the min of one of them");
}

Admission of_one_metric(const SampleCurriculum& metric, const std::vector<Threshold>& thresholds) {
    Admission admission;
    for (const Threshold& t : thresholds) admission.phases.push_back({t.first_step, t.easiest[0]});
    admission.member = metric.index.order;
    admission.member.count = thresholds.back().easiest[0];
    admission.owner = metric.index.owner;
    return admission;
}

// (samples), the first threshold under which every metric admits a sample.
std::vector<std::uint16_t> first_thresholds(std::span<const SampleCurriculum> metrics,
                                            const std::vector<Threshold>& thresholds) {
    const std::int64_t samples = metrics.front().index.samples();
    std::vector<std::uint16_t> first(static_cast<std::size_t>(samples), 0);
    for (std::size_t m = 0; m < metrics.size(); ++m) {
        std::size_t t = 0;
        for (std::int64_t rank = 0; rank < samples; ++rank) {
            while (t < thresholds.size() && rank >= thresholds[t].easiest[m]) ++t;
            auto& at = first[static_cast<std::size_t>(metrics[m].index.order[rank])];
            at = std::max(at, t < thresholds.size() ? static_cast<std::uint16_t>(t) : kNever);
        }
    }
    return first;
}

// The samples sorted by their first threshold, then by id. begin (thresholds + 1) is where each one's are to go.
template <class Id>
void sort_by_threshold(Admission& admission, const std::vector<std::uint16_t>& first, std::vector<std::int64_t> begin) {
    auto ids = std::make_shared<std::vector<Id>>(static_cast<std::size_t>(begin.back()));
    for (std::size_t id = 0; id < first.size(); ++id)
        if (first[id] != kNever) (*ids)[static_cast<std::size_t>(begin[first[id]]++)] = static_cast<Id>(id);
    admission.member = {ids->data(), static_cast<std::int64_t>(ids->size()), number_type<Id>()};
    admission.owner = ids;
}

Admission of_intersection(std::span<const SampleCurriculum> metrics, const std::vector<Threshold>& thresholds) {
    const std::vector<std::uint16_t> first = first_thresholds(metrics, thresholds);
    std::vector<std::int64_t> begin(thresholds.size() + 1, 0);
    for (const std::uint16_t t : first)
        if (t != kNever) ++begin[std::size_t{t} + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    Admission admission;
    for (std::size_t t = 0; t < thresholds.size(); ++t)
        if (begin[t + 1] > begin[t]) admission.phases.push_back({thresholds[t].first_step, begin[t + 1]});
    if (begin[1] == 0) refuse_empty_pool(metrics);
    if (first.size() <= std::numeric_limits<std::uint32_t>::max())
        sort_by_threshold<std::uint32_t>(admission, first, begin);
    else
        sort_by_threshold<std::int64_t>(admission, first, begin);
    return admission;
}

}  // namespace

Admission admit(std::span<const SampleCurriculum> metrics, std::int64_t steps) {
    require_metrics(metrics);
    const std::vector<Threshold> thresholds = thresholds_of(metrics, std::max<std::int64_t>(1, steps));
    for (const std::int64_t easiest : thresholds.front().easiest)
        if (easiest < 1) refuse_empty_pool(metrics);
    return metrics.size() == 1 ? of_one_metric(metrics[0], thresholds) : of_intersection(metrics, thresholds);
}

}  // namespace deft::engine
