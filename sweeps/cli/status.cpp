// deft status: how far a sweep is.

#include "reporting/status.h"

#include <memory>

#include "reporting/table.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/results.h"

namespace deft::cli {

void add_status(CLI::App& app, Context&) {
    struct Arguments {
        std::string sweep;
        std::string root = "deft-runs";
    };
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand("status", "Show how far a sweep is");
    command->add_option("sweep", arguments->sweep, kSweepHelp);
    command->add_option("--root", arguments->root, "Where the results are")->capture_default_str();
    command->callback([arguments] {
        const results_db::Reader reader = open_results(arguments->root);
        const reporting::Table table = reporting::status_table(find_sweep(reader, arguments->sweep), reader.sweeps());
        print(reporting::render_terminal(table, output_width()));
    });
}

}  // namespace deft::cli
