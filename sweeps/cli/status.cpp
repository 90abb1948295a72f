// deft status: how far a sweep is.

#include "reporting/status.h"

#include <memory>

#include "reporting/table.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/results.h"

namespace deft::cli {

void add_status(CLI::App& app, Context&) {
    struct Arguments {
        std::string sweep;
        std::string root = sweeps::kDefaultRoot;
    };
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand("status", "Show how far a sweep is");
    command->add_option("sweep", arguments->sweep, kSweepHelp);
    add_root(*command, arguments->root);
    command->callback([arguments] {
        const results_db::Reader reader = open_results(arguments->root);
        const reporting::Table table = reporting::status_table(find_sweep(reader, arguments->sweep), reader.sweeps());
        print(table);
    });
}

}  // namespace deft::cli
