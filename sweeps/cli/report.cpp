// deft report: a sweep's comparison table again.

#include <memory>

#include "base/error.h"
#include "reporting/comparison.h"
#include "reporting/table.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/results.h"
#include "sweeps/sweep_note.h"

namespace deft::cli {

void add_report(CLI::App& app, Context& context) {
    struct Arguments {
        std::string sweep;
        std::string root = "deft-runs";
        std::string format = "term";
        std::string out;
    };
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand("report", "Print a sweep's comparison table");
    command->add_option("sweep", arguments->sweep, "Its name; the newest where none is given");
    command->add_option("--root", arguments->root, "Where the results are")->capture_default_str();
    command->add_option("--format", arguments->format, "term or md")
        ->check(CLI::IsMember({"term", "md"}))
        ->capture_default_str();
    command->add_option("--out", arguments->out, "Write it to this file");
    command->callback([arguments, &context] {
        const results_db::Reader reader = open_results(arguments->root);
        const results_db::SweepResults results = find_sweep(reader, arguments->sweep);
        const sweeps::SweepNote note = sweeps::read_sweep_note(arguments->root, results.spec_sha256);
        const reporting::Table table =
            reporting::comparison_table(results, {note.baseline, note.scale, note.title, note.command});
        const int width = arguments->out.empty() ? output_width() : kPlainWidth;
        print_to(arguments->out, arguments->format == "md" ? reporting::render_markdown(table)
                                                           : reporting::render_terminal(table, width));
        context.exit_code = kExitNothing;
        for (const results_db::TrialRow& trial : results.trials)
            if (trial.state == "ok") context.exit_code = kExitOk;
    });
}

}  // namespace deft::cli
