// deft status: how far a sweep is.

#include "reporting/status.h"

#include <memory>

#include "reporting/stale.h"
#include "reporting/sweep_text.h"
#include "reporting/table.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/results.h"

namespace deft::cli {

namespace {

void print_stale(const results_db::SweepResults& sweep) {
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
        bool stale = false;
    };
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand("status", "Show how far a sweep is");
    command->add_option("sweep", arguments->sweep, kSweepHelp);
    add_root(*command, arguments->root);
    command->add_flag("--stale", arguments->stale,
                      "List what would be measured otherwise today, since code (the result epoch), data, or a task, its "
                      "records or its scoring have changed, and the command that does it again");
    command->callback([arguments] {
        const results_db::Reader reader = open_results(arguments->root);
        if (arguments->stale) {
            print_stale(find_checked_sweep(reader, arguments->sweep, arguments->root));
            return;
        }
        const reporting::Table table = reporting::status_table(find_sweep(reader, arguments->sweep), reader.sweeps());
        print(table);
    });
}

}  // namespace deft::cli
