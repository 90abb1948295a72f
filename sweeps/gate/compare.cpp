#include "sweeps/gate/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "base/error.h"
#include "base/stopwatch.h"
#include "reporting/analysis/statistics/case_family.h"
#include "sweeps/gate/arm.h"
#include "sweeps/gate/bench_cases.h"
#include "sweeps/gate/preset_steps.h"

namespace deft::sweeps {

namespace {

using kernels::CacheState;
using reporting::Verdict;

constexpr long kMostRuns = 1000000000;

// Thrown where a launch of a case gives no times.
struct CaseTrouble {
    Trouble trouble;
    Side side;
    std::string why;
};

template <class Action>
auto of(Side side, Action action) {
    try {
        return action();
    } catch (const ArmCrashed& crash) {
        throw CaseTrouble{Trouble::crashed, side, crash.what()};
    }
}

// The least difference between two readings of the clock.
double clock_tick() {
    double least = 1;
    for (int i = 0; i < 100; ++i) {
        const auto start = Clock::now();
        auto now = start;
        while (now == start) now = Clock::now();
        least = std::min(least, std::chrono::duration<double>(now - start).count());
    }
    return least;
}

// Which of a launch's pairs measure base first: half of them, in random order.
std::vector<bool> orders(std::size_t pairs, std::mt19937_64& random) {
    std::vector<bool> base_first(pairs);
    const bool odd_one = (random() & 1) != 0;
    for (std::size_t i = 0; i < pairs; ++i) base_first[i] = (i % 2 == 0) == odd_one;
    for (std::size_t i = pairs; i > 1; --i) std::vector<bool>::swap(base_first[i - 1], base_first[random() % i]);
    return base_first;
}

// Both programs, started for one case.
class Launch {
 public:
    // The program that is started first gets other memory. That would be a bias if it were always the same one.
    Launch(const ComparedPrograms& programs, const ComparisonSettings& settings, const CommonCase& which,
           bool base_first) {
        const std::vector<int> processors = processors_for(settings.threads);
        const auto start_base = [&] {
            base_.emplace(programs.base, settings.threads, processors);
            prepared_base_ = of(Side::base, [&] { return base_->prepare(which.name, which.base_place); });
        };
        if (base_first) start_base();
        head_.emplace(programs.head, settings.threads, processors);
        prepared_head_ = of(Side::head, [&] { return head_->prepare(which.name, which.head_place); });
        if (!base_first) start_base();
        if (!prepared_head_.wrong.empty()) throw CaseTrouble{Trouble::wrong_output, Side::head, prepared_head_.wrong};
        if (!prepared_base_.wrong.empty()) throw CaseTrouble{Trouble::wrong_output, Side::base, prepared_base_.wrong};
        if (prepared_base_.unknown) throw CaseTrouble{Trouble::only_in_head, Side::base, ""};
        if (prepared_head_.unknown) throw CaseTrouble{Trouble::only_in_base, Side::head, ""};
    }

    const PreparedArm& head() const { return prepared_head_; }
    bool can(CacheState state) const {
        return state == CacheState::hot || (prepared_base_.cold && prepared_head_.cold);
    }
    // As many runs as make a sample of the faster arm that long.
    long runs_a_sample(CacheState state, double seconds) const {
        constexpr double kReserve = 1.25;  // for an estimate that a busy machine made too long
        const double faster = state == CacheState::hot ? std::min(*prepared_base_.hot, *prepared_head_.hot)
                                                       : std::min(*prepared_base_.cold, *prepared_head_.cold);
        return static_cast<long>(std::min<double>(kMostRuns, std::ceil(kReserve * seconds / faster)));
    }
    reporting::TimedPair pair(CacheState state, long runs, bool base_first) {
        const auto time_base = [&] { return of(Side::base, [&] { return base_->run(state, runs); }); };
        const auto time_head = [&] { return of(Side::head, [&] { return head_->run(state, runs); }); };
        reporting::TimedPair times;
        if (base_first) times.base = time_base();
        times.head = time_head();
        if (!base_first) times.base = time_base();
        return times;
    }

 private:
    std::optional<Arm> base_, head_;
    PreparedArm prepared_base_, prepared_head_;
};

class Comparison {
 public:
    Comparison(const ComparedPrograms& programs, const ComparisonSettings& settings)
        : programs_(programs),
          settings_(settings),
          sample_seconds_(std::max(settings.sample_seconds, 20 * clock_tick())),
          pairs_a_launch_((settings.rule.looks.front() + settings.launches - 1) / settings.launches),
          random_(settings.seed) {}

    // Launches both programs again and again until none of these rows, all of one case, wants more pairs.
    // `of_row`: where a row's measurement goes.
    template <class OfRow>
    void measure(std::span<ComparedCase*> rows, OfRow of_row) {
        for (ComparedCase* row : rows) of_row(*row).decision = paired_verdict({}, settings_.rule);
        const auto start = Clock::now();
        try {
            while (take_launch(rows, of_row)) {
            }
        } catch (const CaseTrouble& trouble) {
            for (ComparedCase* row : rows) {
                row->trouble = trouble.trouble;
                row->side = trouble.side;
                row->why = trouble.why;
            }
        }
        for (ComparedCase* row : rows) row->measured_for += seconds_since(start) / static_cast<double>(rows.size());
    }

 private:
    // False where no row wanted anything.
    template <class OfRow>
    bool take_launch(std::span<ComparedCase*> rows, OfRow of_row) {
        std::vector<ComparedCase*> wanting;
        for (ComparedCase* row : rows)
            if (of_row(*row).decision.pairs_wanted > 0) wanting.push_back(row);
        if (wanting.empty()) return false;
        Launch launch(programs_, settings_, wanting.front()->which, starts_base_first());
        for (ComparedCase* row : wanting) {
            row->backend = launch.head().backend;
            row->flops = launch.head().flops;
            row->bytes = launch.head().bytes;
            Measurement& measurement = of_row(*row);
            if (launch.can(row->state))
                take_pairs(launch, row->state, measurement);
            else
                measurement.decision.pairs_wanted = 0;
        }
        return true;
    }

    // In every two launches one starts base first and one starts head first, in random order.
    bool starts_base_first() {
        if (launches_++ % 2 == 0)
            first_of_two_ = (random_() & 1) != 0;
        else
            first_of_two_ = !first_of_two_;
        return first_of_two_;
    }

    void take_pairs(Launch& launch, CacheState state, Measurement& measurement) {
        const long runs = launch.runs_a_sample(state, sample_seconds_);
        const std::size_t left = measurement.decision.pairs_wanted - measurement.pairs.size();
        for (const bool base_first : orders(std::min(pairs_a_launch_, left), random_))
            measurement.pairs.push_back(launch.pair(state, runs, base_first));
        measurement.decision = paired_verdict(measurement.pairs, settings_.rule);
    }

    const ComparedPrograms& programs_;
    const ComparisonSettings& settings_;
    double sample_seconds_;
    std::size_t pairs_a_launch_;
    std::mt19937_64 random_;
    std::size_t launches_ = 0;
    bool first_of_two_ = false;
};

// Sets the verdicts of the first measurements, corrected for the number of cases. Returns the rows to measure again.
std::vector<ComparedCase*> judge(std::vector<ComparedCase>& rows, double false_discovery_rate) {
    std::vector<ComparedCase*> measured, doubtful;
    std::vector<reporting::PairedDecision> decisions;
    for (ComparedCase& row : rows)
        if (row.is_measured()) {
            measured.push_back(&row);
            decisions.push_back(row.first.decision);
        }
    const std::vector<reporting::CaseOutcome> outcomes = reporting::over_cases(decisions, false_discovery_rate);
    for (std::size_t i = 0; i < measured.size(); ++i) {
        measured[i]->verdict = outcomes[i].verdict;
        measured[i]->adjusted_p = outcomes[i].adjusted_p;
        if (outcomes[i].verdict == Verdict::better || outcomes[i].verdict == Verdict::worse)
            doubtful.push_back(measured[i]);
    }
    return doubtful;
}

std::map<std::string, std::size_t> places(const std::vector<std::string>& names) {
    std::map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < names.size(); ++i) places.emplace(names[i], i);
    return places;
}

}  // namespace

KnownArms know(const ComparedPrograms& programs, const std::vector<std::string>& patterns) {
    Arm base(programs.base, 1, {}), head(programs.head, 1, {});
    KnownArms known{base.describe(), head.describe(), {}};
    const std::vector<std::string> of_head = head.list();
    const std::vector<std::string> of_base = programs.base == programs.head ? of_head : base.list();
    const std::map<std::string, std::size_t> in_base = places(of_base), in_head = places(of_head);
    for (const auto& name : of_head) {
        if (!is_meant(name, patterns)) continue;
        const auto base_place = in_base.find(name);
        if (base_place == in_base.end())
            known.cases.only_head.push_back(name);
        else
            known.cases.both.push_back({name, base_place->second, in_head.at(name)});
    }
    for (const std::string& name : of_base)
        if (is_meant(name, patterns) && !in_head.contains(name)) known.cases.only_base.push_back(name);
    if (known.cases.both.empty() && known.cases.only_base.empty() && known.cases.only_head.empty())
        fail_unmatched("no case of either program", patterns, of_head, "see deft bench list");
    std::vector<std::string> timed;
    for (const CommonCase& one : known.cases.both) timed.push_back(one.name);
    require_memory_of_cases(timed, 2);
    return known;
}

std::vector<ComparedCase> compare(const ComparedPrograms& programs, const CaseNames& cases,
                                  const ComparisonSettings& settings,
                                  const std::function<void(const std::string&, double)>& progress) {
    (void)paired_verdict({}, settings.rule);  // refuses a rule that makes no sense before anything is measured
    Comparison comparison(programs, settings);
    std::vector<ComparedCase> rows(2 * cases.both.size());
    for (std::size_t i = 0; i < cases.both.size(); ++i) {
        progress(cases.both[i].name, static_cast<double>(i) / static_cast<double>(cases.both.size()));
        ComparedCase *hot = &rows[2 * i], *cold = &rows[2 * i + 1];
        hot->which = cold->which = cases.both[i];
        hot->name = cold->name = cases.both[i].name;
        cold->state = CacheState::cold;
        ComparedCase* both[] = {hot, cold};
        comparison.measure(both, [](ComparedCase& row) -> Measurement& { return row.first; });
    }
    for (ComparedCase* row : judge(rows, settings.false_discovery_rate)) {
        progress("again: " + row->name, 1);
        row->again.emplace();
        comparison.measure(std::span(&row, 1), [](ComparedCase& one) -> Measurement& { return *one.again; });
        row->verdict = reporting::confirmed(row->first.decision, row->again->decision);
    }
    const auto add_lonely = [&](const std::vector<std::string>& names, Trouble trouble, Side side) {
        for (const std::string& name : names) {
            ComparedCase& row = rows.emplace_back();
            row.name = name;
            row.trouble = trouble;
            row.side = side;
        }
    };
    add_lonely(cases.only_base, Trouble::only_in_base, Side::head);
    add_lonely(cases.only_head, Trouble::only_in_head, Side::base);
    return rows;
}

}  // namespace deft::sweeps
