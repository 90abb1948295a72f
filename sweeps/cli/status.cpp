// deft status: how far a sweep is.

#include "reporting/views/text/status.h"

#include <memory>
#include <string>
#include <vector>

#include "reporting/analysis/results/stale.h"
#include "reporting/analysis/results/sweep_text.h"
#include "reporting/analysis/scores/stale_notes.h"
#include "reporting/table.h"
#include "reporting/views/json/status_json.h"
#include "results_db/reader.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/evidence_files.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/results.h"

namespace deft::cli {

namespace {

void print_stale(const reporting::Results& sweep) {
    reporting::Table table = reporting::stale_table(sweep, sweep.command);
    table.caption = "Sweep " + reporting::sweep_text(sweep);
    if (table.rows.empty()) {
        table.columns.clear();
        table.notes.insert(table.notes.begin(), "Nothing is stale.");
    }
    print(table);
}

}  // namespace

void add_status(CLI::App& app, Context&) {
    struct Arguments {
        std::string sweep;
        std::string root = sweeps::kDefaultRoot;
        std::vector<std::string> from;
        bool stale = false;
        std::string format = "term";
    };
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand("status", "Show how far a sweep is");
    command->add_option("sweep", arguments->sweep, kSweepHelp);
    add_root(*command, arguments->root);
    add_from(*command, arguments->from);
    command
        ->add_flag("--stale", arguments->stale,
                   "List results that code (the result epoch), data, a task, its records or its evaluation have "
                   "changed since, and the command that repeats them")
        ->excludes("--from");
    command->add_option("--format", arguments->format, "The format: term, or json (schema deft-status/1)")
        ->check(CLI::IsMember({"term", "json"}))
        ->capture_default_str();
    add_json_flag(*command, arguments->format);
    command->callback([arguments] {
        take_name(arguments->from, arguments->sweep);
        const results_db::Reader reader = open_results(arguments->root, read_evidence(arguments->from));
        if (arguments->format == "json") {
            print_exact(reporting::render_status_json(
                find_sweep(reader, arguments->sweep,
                           arguments->stale ? inputs_below(arguments->root) : reporting::unknown_inputs()),
                reader.sweeps()));
            return;
        }
        if (arguments->stale) {
            print_stale(find_sweep(reader, arguments->sweep, inputs_below(arguments->root)));
            return;
        }
        const reporting::Table table =
            reporting::status_table(find_sweep(reader, arguments->sweep, reporting::unknown_inputs()), reader.sweeps());
        print(table);
    });
}

}  // namespace deft::cli
