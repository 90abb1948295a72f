#include "sweeps/gate/interleaved_rounds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>

#include "base/error.h"
#include "reporting/analysis/statistics/signed_rank.h"

namespace deft::sweeps {

namespace {

constexpr double kAlpha = 0.05;

double positive_seconds(const Contestant& contestant, long runs) {
    const double seconds = contestant.run(runs);
    if (!(seconds > 0) || !std::isfinite(seconds))
        throw Error(ErrorKind::data,
                    fmt::format("{} took {} seconds, by its own count", fmt::join(contestant.names, ", "), seconds));
    return seconds;
}

}  // namespace

std::function<double(long)> mean_of_runs(std::function<double()> run) {
    return [run = std::move(run)](long runs) {
        double seconds = 0;
        for (long i = 0; i < runs; ++i) seconds += run();
        return seconds / static_cast<double>(runs);
    };
}

int rounds_kept(const RoundSettings& settings) {
    return settings.rounds - (settings.rounds + 9) / 10;
}

void time_in_rounds(std::vector<Contestant>& contestants, const RoundSettings& settings, const std::string& what,
                    const ShowProgress& progress) {
    const std::size_t count = contestants.size();
    std::vector<long> runs;
    for (const Contestant& contestant : contestants) {
        positive_seconds(contestant, 1);
        runs.push_back(std::max(1L, std::lround(settings.segment_seconds / positive_seconds(contestant, 1))));
    }
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::mt19937_64 random(settings.seed);
    for (int round = 0; round < settings.rounds; ++round) {
        progress(what, static_cast<double>(round) / settings.rounds);
        std::shuffle(order.begin(), order.end(), random);
        for (const std::size_t i : order) {
            const double one = positive_seconds(contestants[i], runs[i]);
            if (round >= settings.rounds - rounds_kept(settings)) contestants[i].seconds.push_back(one);
        }
    }
}

TimeRatio time_ratio(const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> differences;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) differences.push_back(std::log(a[i] / b[i]));
    const reporting::HodgesLehmann centre = reporting::hodges_lehmann(differences, kAlpha);
    TimeRatio result{std::exp(centre.estimate), {}};
    if (centre.interval)
        result.interval = reporting::Interval{std::exp(centre.interval->low), std::exp(centre.interval->high)};
    return result;
}

std::string to_text(const TimeRatio& ratio) {
    std::string text = fmt::format("{:.3f}", ratio.ratio);
    if (ratio.interval) text += fmt::format(" [{:.3f}, {:.3f}]", ratio.interval->low, ratio.interval->high);
    return text;
}

std::string method_of_ratios(const RoundSettings& settings) {
    return fmt::format("Hodges-Lehmann over the rounds' ratios, 95% interval, orders from seed {}", settings.seed);
}

}  // namespace deft::sweeps
