#include "sweeps/gate/bench_cases.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "base/error.h"
#include "base/suggestion.h"
#include "engine/bench/cases.h"
#include "engine/core/backend.h"
#include "experiments/bench/scoring.h"
#include "sweeps/gate/preset_steps.h"
#include "sweeps/gate/report_benches.h"

namespace deft::sweeps {

namespace {

using kernels::BenchCase;

constexpr std::uint64_t kSeed = 1;  // of the inputs

// Parts of the whole program, kernels excepted, on the CPU.
std::vector<BenchCase> other_benches() {
    constexpr std::int64_t kScoredBatches = 4;
    std::vector<BenchCase> cases = engine::engine_benches(kSeed);
    std::ranges::move(experiments::scoring_benches(engine::standard_step_benches(), kScoredBatches),
                      std::back_inserter(cases));
    std::ranges::move(report_benches(), std::back_inserter(cases));
    return cases;
}

}  // namespace

std::vector<BenchCase> bench_cases(kernels::BenchBackends backends) {
    std::vector<BenchCase> cases = kernels::op_benches(kSeed, backends);
    if (backends == kernels::BenchBackends::cuda) return cases;
    std::ranges::move(other_benches(), std::back_inserter(cases));
    std::ranges::move(preset_step_benches(), std::back_inserter(cases));
    return cases;
}

std::optional<BenchCase> find_bench_case(const std::string& name, std::size_t place) {
    if (is_preset_step(name)) return find_preset_step_bench(name);
    for (BenchCase& bench : other_benches())
        if (bench.name == name) return std::move(bench);
    return kernels::find_op_bench(name, place, kSeed);
}

bool matches(const std::string& name, const std::vector<std::string>& patterns) {
    return patterns.empty() || std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
               return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
           });
}

bool is_meant(const std::string& name, const std::vector<std::string>& patterns) {
    if (!is_preset_step(name)) return matches(name, patterns);
    std::vector<std::string> of_steps = patterns;
    std::erase_if(of_steps, [](const std::string& pattern) { return !is_preset_step(pattern); });
    return !of_steps.empty() && matches(name, of_steps);
}

namespace {

// Candidates for a mistyped pattern: a name, or a pattern of its first part as in linear_forward/* or linear_*.
std::vector<std::string> patterns_of(const std::vector<std::string>& names) {
    std::set<std::string> known;
    for (const std::string& name : names)
        known.insert({name, name.substr(0, name.find('/')) + "/*", name.substr(0, name.find('_')) + "_*"});
    return {known.begin(), known.end()};
}

}  // namespace

void fail_unmatched(const std::string& what, const std::vector<std::string>& patterns,
                    const std::vector<std::string>& names, const std::string& otherwise) {
    throw Error(ErrorKind::usage, fmt::format("{} matches {}", what, fmt::join(patterns, ", ")),
                suggestion(patterns.empty() ? "" : patterns.front(), patterns_of(names), otherwise));
}

void keep_matching(std::vector<reporting::BenchSeries>& series, const std::vector<std::string>& patterns) {
    if (series.empty()) return;
    std::vector<std::string> names;
    for (const reporting::BenchSeries& one : series) names.push_back(one.case_name);
    std::erase_if(series, [&](const reporting::BenchSeries& one) { return !matches(one.case_name, patterns); });
    if (series.empty()) fail_unmatched("no series of the history", patterns, names, "deft bench history lists all");
}

kernels::BenchBackends chosen_backends(const std::string& word) {
    using kernels::BenchBackends;
    if (word == "cpu") return BenchBackends::cpu;
    const std::string problem = engine::gpu_problem();
    if (word != "cuda") return problem.empty() ? BenchBackends::all : BenchBackends::cpu;
    if (problem.empty()) return BenchBackends::cuda;
    throw Error(ErrorKind::missing, "no GPU can be used: " + problem, "use --backend cpu, or see `deft doctor`");
}

std::vector<BenchCase> chosen_benches(const std::vector<std::string>& patterns, kernels::BenchBackends backends) {
    std::vector<BenchCase> benches = bench_cases(backends);
    std::vector<std::string> names;
    for (const BenchCase& bench : benches) names.push_back(bench.name);
    std::set<std::string> chosen;
    for (const BenchCase& bench : benches)
        if (is_meant(bench.name, patterns)) chosen.insert({bench.name, bench.beside});
    std::erase_if(benches, [&](const BenchCase& bench) { return !chosen.contains(bench.name); });
    if (benches.empty()) fail_unmatched("no case", patterns, names, "see deft bench list");
    return benches;
}

}  // namespace deft::sweeps
