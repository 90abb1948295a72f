#include "sweeps/cli/check_options.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/files.h"
#include "reporting/bencher_metrics.h"
#include "reporting/check_table.h"
#include "reporting/github_annotations.h"
#include "reporting/junit.h"

namespace deft::cli {

namespace {

constexpr std::size_t kMostMarkdownRows = 10000;

void append_summary(const reporting::CheckReport& report) {
    const char* file = std::getenv("GITHUB_STEP_SUMMARY");
    if (file == nullptr || *file == 0) return;
    std::ofstream out(file, std::ios::app);
    out << reporting::github_summary(report) << std::flush;
    if (!out)
        throw Error(ErrorKind::io, std::string("cannot append to ") + file,
                    "GITHUB_STEP_SUMMARY names a file to write");
}

}  // namespace

void add_check_options(CLI::App& command, CheckOptions& options) {
    command.add_flag("--strict", options.strict, "Exit with 4 where anything stays unclear");
    command.add_flag("--github", options.github, "GitHub's annotations, and its job summary");
    command.add_option("--junit", options.junit, "Write JUnit XML to this file");
    command.add_option("--bmf", options.bmf, "Write Bencher Metric Format to this file");
    command.add_option("--markdown", options.markdown, "Write a Markdown table to this file");
}

void prepare_check_outputs(const CheckOptions& options) {
    for (const std::string& file : {options.junit, options.bmf, options.markdown})
        if (const std::filesystem::path folder = std::filesystem::path(file).parent_path(); !folder.empty())
            make_folder(folder);
}

int finish_check(const reporting::CheckReport& report, const CheckOptions& options) {
    if (!options.junit.empty()) write_file_atomically(options.junit, reporting::render_junit(report, options.strict));
    if (!options.bmf.empty()) write_file_atomically(options.bmf, reporting::render_bencher_metrics(report));
    if (!options.markdown.empty())
        write_file_atomically(options.markdown,
                              reporting::render_markdown(reporting::check_table(report, kMostMarkdownRows)));
    if (options.github) {
        std::fputs(reporting::github_annotations(report).c_str(), stderr);  // GitHub reads both; the other may be JSON
        append_summary(report);
    }
    return reporting::exit_code_of(report, options.strict);
}

}  // namespace deft::cli
