#pragma once
// Every benchmark case that the program has, of kernels, of what comes before and after a step, of reports, and of the
// steps of presets: what deft bench lists, runs and compares; and which of them are meant.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "kernels/bench/op_benches.h"
#include "reporting/analysis/trend/bench_series.h"

namespace deft::sweeps {

// Two builds make the same inputs. Only kernels have cases on a GPU; the steps of presets come last.
std::vector<kernels::BenchCase> bench_cases(kernels::BenchBackends = kernels::BenchBackends::cpu);

// One of the CPU's, looked for from that place of the list on. Nothing where none has the name.
std::optional<kernels::BenchCase> find_bench_case(const std::string& name, std::size_t place);

// "cpu", "cuda", or "all" that this build and this machine have. Errors: missing, for cuda where it cannot be used.
kernels::BenchBackends chosen_backends(const std::string& word);

// Cases are chosen by patterns of their names, as files are in a shell; without patterns every name is meant.
bool matches(const std::string& name, const std::vector<std::string>& patterns);
// The same for steps of presets, which take up to minutes each: only patterns that begin as their names do select them.
bool is_meant(const std::string& name, const std::vector<std::string>& patterns);
// Selected cases, with those that are compared with one of them. Errors: usage, for patterns that match nothing.
std::vector<kernels::BenchCase> chosen_benches(const std::vector<std::string>& patterns, kernels::BenchBackends);
// For patterns that match none of these cases: usage, with the nearest name or pattern. `what` names the searched list.
[[noreturn]] void fail_unmatched(const std::string& what, const std::vector<std::string>& patterns,
                                 const std::vector<std::string>& names, const std::string& otherwise);
// Leaves the series of cases that match. Errors: usage, where patterns leave none.
void keep_matching(std::vector<reporting::BenchSeries>& series, const std::vector<std::string>& patterns);

}  // namespace deft::sweeps
