#pragma once
// The common part of commands that time several contestants in one run, from their options to their tables.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/bench/step.h"
#include "reporting/table.h"
#include "sweeps/cli/bench_commands.h"
#include "sweeps/cli/options.h"
#include "sweeps/gate/interleaved_rounds.h"

namespace deft::cli {

// --pytorch, or another option for Pythons that have these packages.
void add_pythons(CLI::App& command, std::vector<std::string>& pythons, const std::string& packages = "torch",
                 const std::string& option = "--pytorch");

// The standard models of these places, from 1.
std::vector<engine::StepBench> standard_models(const std::vector<int>& places);

// "1" of a contestant itself, else how many times as long it takes: "0.553 [0.548, 0.559]x".
std::string times_as_long(const std::vector<double>& one, const std::vector<double>& other);

// One row per contestant with cells: its names, its cells, and its time relative to each contestant in `beside`.
void add_rows(reporting::Table& table, const std::vector<sweeps::Contestant>& contestants);

struct Measured {
    std::vector<reporting::Table> tables;
    std::filesystem::path raw_rounds = {};  // the database that has them; empty: none
};
void print(const Measured& measured);

// Measures, and prints what was measured. A seed of rounds that nobody chose is drawn.
template <class Arguments>
Run contest(std::shared_ptr<Arguments> arguments,
            Measured (*measure)(const Arguments& arguments, const sweeps::ShowProgress& progress)) {
    return [arguments, measure] {
        if constexpr (requires { arguments->rounds.seed; })
            arguments->rounds.seed = seed_or_drawn(arguments->rounds.seed);
        sweeps::ProgressLine line;
        const Measured measured = measure(*arguments, shown_on(line));
        line.clear();
        print(measured);
        return kExitOk;
    };
}

}  // namespace deft::cli
