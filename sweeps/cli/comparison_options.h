#pragma once
// The options that all comparisons of programs share, and what happens once both programs are there.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "reporting/analysis/check/check_report.h"
#include "sweeps/cli/gate_options.h"
#include "sweeps/gate/compare.h"
#include "sweeps/gate/comparison_report.h"

namespace deft::cli {

struct ComparisonOptions {
    std::vector<std::string> patterns;
    std::vector<std::string> presets;  // whose steps are compared, too, or alone where there are no patterns
    int threads = 1;
    std::size_t first_look = 24;  // pairs; later ones at twice and four times as many
    std::size_t launches = 3;
    double margin = 0.02;
    std::uint64_t seed = 0;  // 0: drawn
};

void add_comparison_options(CLI::App& command, ComparisonOptions& options);

// The patterns, and those of the presets. Errors: usage, for an unknown preset, with the nearest one.
std::vector<std::string> all_patterns(const ComparisonOptions& options);

sweeps::ComparisonSettings settings_of(const ComparisonOptions& options);

// Measures both programs, and stores samples and verdicts unless this is a dry run. Prints the table with `notes` below
// it, or JSON with the notes on standard error. Returns what was found.
reporting::CheckReport compare_and_print(const sweeps::ComparedPrograms& programs, const sweeps::ComparisonNames& names,
                                         const ComparisonOptions& options, const GateOptions& gate,
                                         const std::vector<std::string>& notes = {}, const std::string& base_sha = {},
                                         const std::string& head_sha = {});

}  // namespace deft::cli
