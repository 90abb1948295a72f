#pragma once
// What all gates share: where the database is, and what happens to their verdicts.

#include <CLI/CLI.hpp>
#include <span>
#include <string>

#include "reporting/check_verdicts.h"
#include "reporting/table.h"
#include "results_db/store.h"
#include "sweeps/cli/check_options.h"

namespace deft::cli {

struct GateOptions {
    std::string root = "deft-runs";
    bool json = false, dry_run = false;
    CheckOptions outputs;
};

void add_gate_options(CLI::App& command, GateOptions& options);

// The verdicts of one check, with the rule that gave them.
void record_verdicts(results_db::Writer& writer, std::span<const reporting::Judged> judged,
                     const std::string& rule_json);

// The table, or JSON where that is asked for.
void print_check(const reporting::CheckReport& report, const reporting::Table& table, const GateOptions& options);

// Both, of a gate that has no writer open; a dry run stores nothing. Errors: database, io, as results_db::Writer.
void record_and_print(const reporting::CheckReport& report, const reporting::Table& table,
                      std::span<const reporting::Judged> judged, const std::string& rule_json,
                      const GateOptions& options);

}  // namespace deft::cli
