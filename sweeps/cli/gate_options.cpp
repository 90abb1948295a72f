#include "sweeps/cli/gate_options.h"

#include "base/stopwatch.h"
#include "reporting/check_json.h"
#include "results_db/open.h"
#include "sweeps/cli/output.h"
#include "sweeps/gate/record_bench.h"

namespace deft::cli {

void add_gate_options(CLI::App& command, GateOptions& options) {
    command.add_option("--root", options.root, "Where results.db is")->capture_default_str();
    add_check_options(command, options.outputs);
    command.add_flag("--json", options.json, "Print JSON (schema deft-check/1)");
    command.add_flag("--dry-run", options.dry_run, "Store nothing");
}

void record_verdicts(results_db::Writer& writer, std::span<const reporting::Judged> judged,
                     const std::string& rule_json) {
    writer.add_verdicts(reporting::verdict_rows(judged, results_db::random_uid(), rule_json, now_ms()));
}

void print_check(const reporting::CheckReport& report, const reporting::Table& table, const GateOptions& options) {
    print(options.json ? reporting::render_json(report, options.outputs.strict)
                       : reporting::render_terminal(table, output_width()));
}

void record_and_print(const reporting::CheckReport& report, const reporting::Table& table,
                      std::span<const reporting::Judged> judged, const std::string& rule_json,
                      const GateOptions& options) {
    if (!options.dry_run && !judged.empty()) {
        results_db::Writer writer(sweeps::database_in(options.root));
        record_verdicts(writer, judged, rule_json);
    }
    print_check(report, table, options);
}

}  // namespace deft::cli
