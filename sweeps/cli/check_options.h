#pragma once
// Where a check's findings go beside the terminal: the options that all of deft check shares.

#include <CLI/CLI.hpp>
#include <string>

#include "reporting/check_report.h"

namespace deft::cli {

struct CheckOptions {
    bool strict = false;
    bool github = false;
    std::string junit, bmf, markdown;  // files; empty: not asked for
};

void add_check_options(CLI::App& command, CheckOptions& options);

// Before anything is measured: makes the files' folders. Errors: io.
void prepare_check_outputs(const CheckOptions& options);

// Writes what was asked for, annotations to standard error and the job summary to the file that GITHUB_STEP_SUMMARY
// names, and returns the check's exit code. Errors: io.
int finish_check(const reporting::CheckReport& report, const CheckOptions& options);

}  // namespace deft::cli
