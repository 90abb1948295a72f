#include "sweeps/cli/contest.h"

#include <fmt/format.h>

#include "base/median.h"
#include "sweeps/cli/output.h"

namespace deft::cli {

void add_pythons(CLI::App& command, std::vector<std::string>& pythons, const std::string& packages,
                 const std::string& option) {
    command
        .add_option(option, pythons,
                    fmt::format("A Python with {}, timed in the same rounds; may be given again", packages))
        ->allow_extra_args(false);
}

std::vector<engine::StepBench> standard_models(const std::vector<int>& places) {
    const std::vector<engine::StepBench> all = engine::standard_step_benches();
    std::vector<engine::StepBench> models;
    for (const int place : places) models.push_back(all.at(static_cast<std::size_t>(place - 1)));
    return models;
}

std::string times_as_long(const std::vector<double>& one, const std::vector<double>& other) {
    return &one == &other ? "1" : to_text(sweeps::time_ratio(one, other)) + "x";
}

void add_rows(reporting::Table& table, const std::vector<sweeps::Contestant>& contestants) {
    for (const sweeps::Contestant& one : contestants) {
        if (!one.cells) continue;
        std::vector<reporting::Cell>& row = table.rows.emplace_back(one.names.begin(), one.names.end());
        for (std::string& cell : one.cells(median(one.seconds))) row.emplace_back(std::move(cell));
        for (const std::size_t other : one.beside)
            row.emplace_back(times_as_long(one.seconds, contestants.at(other).seconds));
    }
}

void print(const Measured& measured) {
    for (const reporting::Table& table : measured.tables) print(table);
    if (!measured.raw_rounds.empty()) print(fmt::format("raw rounds: {}", measured.raw_rounds.string()));
}

}  // namespace deft::cli
