#pragma once
// The common part of all gates: their options, and the destinations of their verdicts and findings.

#include <CLI/CLI.hpp>
#include <span>
#include <string>

#include "reporting/analysis/check/check_report.h"
#include "reporting/table.h"
#include "results_db/writer.h"
#include "sweeps/driver/root.h"

namespace deft::cli {

struct GateOptions {
    std::string root = sweeps::kDefaultRoot;
    bool json = false, dry_run = false;
    bool strict = false, github = false;
    std::string junit, bmf, markdown;  // files; empty: not asked for
};
void add_gate_options(CLI::App& command, GateOptions& options);

// Before anything is measured: makes the folders of the files. Errors: io.
void prepare_outputs(const GateOptions& options);

// The verdicts of one check, with the rule that gave them.
void record_verdicts(results_db::Writer& writer, std::span<const reporting::Judged> judged,
                     const std::string& rule_json);

// The table, or JSON where that is asked for.
void print_check(const reporting::CheckReport& report, const reporting::Table& table, const GateOptions& options);

// Both, of a gate that has no writer open; a dry run stores nothing. Errors: database, io, as results_db::Writer.
void record_and_print(const reporting::CheckReport& report, const reporting::Table& table,
                      std::span<const reporting::Judged> judged, const std::string& rule_json,
                      const GateOptions& options);

// Writes what was asked for, annotations to standard error and the job summary to the file that GITHUB_STEP_SUMMARY
// names, and returns the check's exit code. Errors: io.
int finish_check(const reporting::CheckReport& report, const GateOptions& options);

}  // namespace deft::cli
