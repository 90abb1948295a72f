#include "experiments/tuning/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace deft::experiments {

namespace {

// Durations to choose from, hardest first: all of the baseline's steps down to a tenth.
constexpr std::size_t kDurations = 10;

double duration_at(std::size_t index) {
    return static_cast<double>(kDurations - index) / kDurations;
}

Tunable with_duration(Tunable tunable, double duration) {
    if (tunable.steps > 0)
        tunable.steps =
            std::max<std::int64_t>(1, std::llround(static_cast<double>(tunable.steps) * duration / tunable.duration));
    tunable.duration = duration;
    return tunable;
}

std::string text_of(const Tunable& tunable) {
    if (tunable.steps > 0) return fmt::format("min = {}, steps = {}", tunable.min, tunable.steps);
    return fmt::format("min = {}, duration = {:g}", tunable.min, tunable.duration);
}

class Tuner {
 public:
    Tuner(const TrialConfig& config, const Dataset& dataset, const TuneSettings& settings, const TuneWatch& watch)
        : own_(config), dataset_(dataset), settings_(settings), watch_(watch) {
        tuning_.config = config;
    }

    Tuning run() {
        const std::vector<Tunable> tunables = tunables_of(own_, tuning_.notes);
        if (tunables.empty())
            throw Error(ErrorKind::usage, "this recipe has no technique that grows from a min over a duration",
                        "name a recipe with a [curriculum.METRIC] or a token dropper, such as [random_ltd]");
        for (const Tunable& tunable : tunables) {
            if (!tuning_.stopped) tune_one(tunable);
        }
        if (!tuning_.stopped) probe_whole();
        if (!tuning_.stopped && settings_.learning_rates > 0) tune_learning_rates();
        return std::move(tuning_);
    }

 private:
    // Nothing where the search is to stop. The index is that of tuning_.probes.
    std::optional<std::size_t> probe(const TrialConfig& config, const std::string& purpose,
                                     const std::string& setting) {
        const std::string hash = variant_hash(config);
        if (const auto known = probed_.find(hash); known != probed_.end()) return known->second;
        TunedProbe tried{purpose, setting, {}, {}};
        const std::string what = purpose + ", " + setting;
        try {
            tried.probe =
                run_probe(config, dataset_, settings_.probe, [&](double fraction) { return watch_(what, fraction); });
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::config) throw;
            tried.refused = error.what();
        }
        tuning_.stopped = tried.probe.stopped;
        tuning_.probes.push_back(std::move(tried));
        if (tuning_.stopped) return {};
        probed_.emplace(hash, tuning_.probes.size() - 1);
        return tuning_.probes.size() - 1;
    }

    std::optional<bool> passes(const Tunable& tunable, const char* what) {
        const auto index =
            probe(with_tunable_alone(own_, tunable), fmt::format("{}: {}", tunable.path, what), text_of(tunable));
        if (!index) return {};
        return tuning_.probes[*index].passes();
    }

    void tune_one(const Tunable& own) {
        Tuned tuned;
        tuned.own = tuned.best = own;
        search_start(tuned);
        const bool grows = tuned.start.best && tuned.best.min < own.max;
        if (grows && !tuned.start.stopped) search_duration(tuned);
        if (tuned.found) tuning_.config = with_tunable(tuning_.config, tuned.best);
        tuning_.tuned.push_back(std::move(tuned));
    }

    void search_start(Tuned& tuned) {
        const StartGrid grid(tuned.own);
        tuned.start = find_first_passing(grid.size(), [&](std::size_t index) {
            Tunable tunable = tuned.own;
            tunable.min = grid.at(index);
            return passes(tunable, "start");
        });
        if (tuned.start.best) tuned.best.min = grid.at(*tuned.start.best);
        if (tuned.start.stopped) return;
        const std::string& path = tuned.own.path;
        if (!tuned.start.best) {
            refuse_untrainable();
            note(
                fmt::format("{}: no start from {} to {} passes. The last one does not grow, so the training itself "
                            "fluctuates. Lower train.learning_rate, or lengthen the warm-up.",
                            path, grid.at(0), grid.at(grid.size() - 1)));
        } else if (tuned.best.min >= tuned.own.max) {
            note(fmt::format("{}: only min = max passes, so no growing schedule is stable.", path));
        } else if (!tuned.start.monotone) {
            note(
                fmt::format("{}: the smallest start passes and the largest fluctuates: training is unstable without "
                            "this technique.",
                            path));
        }
    }

    void search_duration(Tuned& tuned) {
        tuned.duration = find_first_passing(kDurations, [&](std::size_t index) {
            return passes(with_duration(tuned.best, duration_at(index)), "duration");
        });
        if (tuned.duration.best) tuned.best = with_duration(tuned.best, duration_at(*tuned.duration.best));
        if (tuned.duration.stopped) return;
        tuned.found = true;
        if (!tuned.duration.best)
            note(fmt::format(
                "{}: no duration from {:g} to 1 passes at this start; the configured duration, which passes, is kept.",
                tuned.own.path, duration_at(kDurations - 1)));
        else if (!tuned.duration.monotone)
            note(fmt::format("{}: the longest duration passes, and the shortest fluctuates.", tuned.own.path));
    }

    // A start that the trial refuses is one that fails; where it refuses all, the trial is what is wrong.
    void refuse_untrainable() const {
        for (const TunedProbe& tried : tuning_.probes)
            if (tried.refused.empty()) return;
        throw Error(ErrorKind::config, tuning_.probes.back().refused);
    }

    void probe_whole() {
        if (!std::all_of(tuning_.tuned.begin(), tuning_.tuned.end(), [](const auto& tuned) { return tuned.found; }))
            return;
        const auto index = probe(tuning_.config, "combined", "as found");
        if (!index) return;
        tuning_.whole_passes = tuning_.probes[*index].passes();
        if (!tuning_.whole_passes)
            note(
                "Techniques that pass alone fluctuate when combined. Raise the min of one of them, or shorten its "
                "duration.");
    }

    void tune_learning_rates() {
        tuning_.baseline_rates = try_learning_rates(without_techniques(own_), "baseline");
        if (tuning_.stopped) return;
        tuning_.technique_rates = try_learning_rates(tuning_.config, "technique");
        if (tuning_.stopped) return;
        if (const auto& best = tuning_.technique_rates->best)
            tuning_.config = with_learning_rate(tuning_.config, *best);
    }

    RatesTried try_learning_rates(const TrialConfig& config, const std::string& whose) {
        RatesTried tried;
        double least = std::numeric_limits<double>::infinity();
        for (const double factor : learning_rate_factors(settings_.learning_rates)) {
            const double rate = config.train.learning_rate * factor;
            const auto index = probe(with_learning_rate(config, rate), whose + ": learning rate",
                                     fmt::format("learning_rate = {:g}", rate));
            if (!index) return tried;
            const TunedProbe& result = tuning_.probes[*index];
            tried.rates.push_back(rate);
            tried.losses.push_back(result.passes() ? result.probe.last_loss()
                                                   : std::numeric_limits<double>::infinity());
            if (tried.losses.back() < least) {
                least = tried.losses.back();
                tried.best = rate;
            }
        }
        if (!tried.best) note(fmt::format("{}: every learning rate fluctuates.", whose));
        if (tried.best_at_edge())
            note(fmt::format(
                "{}: the best learning rate is at the edge of the range. A wider range may contain a better one.",
                whose));
        return tried;
    }

    void note(std::string text) { tuning_.notes.push_back(std::move(text)); }

    const TrialConfig& own_;
    const Dataset& dataset_;
    const TuneSettings& settings_;
    const TuneWatch& watch_;
    Tuning tuning_;
    std::map<std::string, std::size_t> probed_;  // by configuration without the seed
};

}  // namespace

bool Tuning::found() const {
    const auto lacks_rate = [](const std::optional<RatesTried>& tried) { return tried && !tried->best; };
    return !stopped && whole_passes && !lacks_rate(baseline_rates) && !lacks_rate(technique_rates);
}

Tuning tune(const TrialConfig& config, const Dataset& dataset, const TuneSettings& settings, const TuneWatch& watch) {
    return Tuner(config, dataset, settings, watch).run();
}

std::vector<double> learning_rate_factors(int count) {
    std::vector<double> factors;
    for (int i = 0; i < count; ++i) factors.push_back(std::exp2(i - (count - 1) / 2));
    return factors;
}

Search find_first_passing(std::size_t size, const std::function<std::optional<bool>(std::size_t)>& passes) {
    Search search;
    // False where it fails, and where the search is to stop.
    const auto ask = [&](std::size_t index) {
        const std::optional<bool> answer = passes(index);
        search.stopped = !answer;
        if (answer) search.tried.push_back({index, *answer});
        return answer.value_or(false);
    };
    if (size == 0) return search;
    const bool hardest = ask(0);
    if (hardest) search.best = 0;
    if (search.stopped || size == 1) return search;
    const bool easiest = ask(size - 1);
    if (search.stopped) return search;
    search.monotone = easiest || !hardest;
    if (hardest || !easiest) return search;

    std::size_t fails = 0;
    search.best = size - 1;
    while (*search.best - fails > 1) {
        const std::size_t middle = fails + (*search.best - fails) / 2;
        const bool middle_passes = ask(middle);
        if (search.stopped) return search;
        if (middle_passes)
            search.best = middle;
        else
            fails = middle;
    }
    return search;
}

}  // namespace deft::experiments
