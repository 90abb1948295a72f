#include "sweeps/cli/gate_options.h"

#include "base/stopwatch.h"
#include "reporting/check_json.h"
#include "results_db/open.h"
#include "results_db/store.h"
#include "sweeps/cli/output.h"
#include "sweeps/driver.h"

namespace deft::cli {

void add_gate_options(CLI::App& command, GateOptions& options) {
    command.add_option("--root", options.root, "Where results.db is")->capture_default_str();
    add_check_options(command, options.outputs);
    command.add_flag("--json", options.json, "Print JSON (schema deft-check/1)");
    command.add_flag("--dry-run", options.dry_run, "Store no verdicts");
}

void record_and_print(const reporting::CheckReport& report, const reporting::Table& table,
                      std::span<const reporting::Judged> judged, const std::string& rule_json,
                      const GateOptions& options) {
    if (!options.dry_run && !judged.empty())
        results_db::Writer(sweeps::database_file(options.root))
            .add_verdicts(reporting::verdict_rows(judged, results_db::random_uid(), rule_json, now_ms()));
    print(options.json ? reporting::render_json(report, options.outputs.strict)
                       : reporting::render_terminal(table, output_width()));
}

}  // namespace deft::cli
