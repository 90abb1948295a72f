#pragma once
// What the gates that read the database share: where it is, and what happens to their verdicts.

#include <CLI/CLI.hpp>
#include <span>
#include <string>

#include "reporting/check_verdicts.h"
#include "reporting/table.h"
#include "sweeps/cli/check_options.h"

namespace deft::cli {

struct GateOptions {
    std::string root = "deft-runs";
    bool json = false, dry_run = false;
    CheckOptions outputs;
};

void add_gate_options(CLI::App& command, GateOptions& options);

// Stores the verdicts with the rule that gave them, unless this is a dry run, and prints the table or JSON.
// Errors: database, io, as results_db::Writer.
void record_and_print(const reporting::CheckReport& report, const reporting::Table& table,
                      std::span<const reporting::Judged> judged, const std::string& rule_json,
                      const GateOptions& options);

}  // namespace deft::cli
