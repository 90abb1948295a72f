#include "sweeps/cli/gate_options.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/files.h"
#include "base/stopwatch.h"
#include "reporting/analysis/check/check_report.h"
#include "reporting/views/text/ci_files.h"
#include "results_db/open.h"
#include "results_db/writer.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/driver/announced_lock.h"

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

void add_gate_options(CLI::App& command, GateOptions& options) {
    add_root(command, options.root);
    command.add_flag("--strict", options.strict, "Exit with 4 where anything stays unclear");
    command.add_flag("--github", options.github, "GitHub's annotations, and its job summary");
    command.add_option("--junit", options.junit, "Write JUnit XML to this file");
    command.add_option("--bmf", options.bmf, "Write Bencher Metric Format to this file");
    command.add_option("--markdown", options.markdown, "Write a Markdown table to this file");
    command.add_flag("--json", options.json, "Print JSON (schema deft-check/1)");
    command.add_flag("--dry-run", options.dry_run, "Store nothing");
}

void prepare_outputs(const GateOptions& options) {
    for (const std::string& file : {options.junit, options.bmf, options.markdown})
        if (const std::filesystem::path folder = std::filesystem::path(file).parent_path(); !folder.empty())
            make_folder(folder);
}

void record_verdicts(results_db::Writer& writer, std::span<const reporting::Judged> judged,
                     const std::string& rule_json) {
    writer.add_verdicts(reporting::verdict_rows(judged, results_db::random_uid(), rule_json, now_ms()));
}

void print_check(const reporting::CheckReport& report, const reporting::Table& table, const GateOptions& options) {
    if (options.json)
        print_exact(reporting::render_json(report, options.strict));
    else
        print(table);
}

void record_and_print(const reporting::CheckReport& report, const reporting::Table& table,
                      std::span<const reporting::Judged> judged, const std::string& rule_json,
                      const GateOptions& options) {
    if (!options.dry_run && !judged.empty()) {
        results_db::Writer writer(sweeps::database_in(options.root), sweeps::announced_lock());
        record_verdicts(writer, judged, rule_json);
    }
    print_check(report, table, options);
}

int finish_check(const reporting::CheckReport& report, const GateOptions& options) {
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
