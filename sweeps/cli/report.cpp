// deft report: a sweep's results again, in any format.

#include <memory>
#include <utility>

#include "base/error.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/report_files.h"
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
    CLI::App* command = app.add_subcommand("report", "Print a sweep's results, or write them to a file");
    command->add_option("sweep", arguments->sweep, "Its name; the newest where none is given");
    command->add_option("--root", arguments->root, "Where the results are")->capture_default_str();
    command->add_option("--format", arguments->format, "term, md, csv, tex, json or html")
        ->check(CLI::IsMember(report_formats()))
        ->capture_default_str();
    command->add_option("--out", arguments->out, "Write it to this file");
    command->callback([arguments, &context] {
        const results_db::Reader reader = open_results(arguments->root);
        results_db::SweepResults results = find_sweep(reader, arguments->sweep);
        const sweeps::SweepNote note = sweeps::read_sweep_note(arguments->root, results.spec_sha256);
        const reporting::ReportData data =
            report_data(reader, std::move(results), note, arguments->format == "html");
        const int width = arguments->out.empty() ? output_width() : kPlainWidth;
        print_to(arguments->out, render_report(data, arguments->format, width));
        context.exit_code = kExitNothing;
        for (const results_db::TrialRow& trial : data.sweep.trials)
            if (trial.state == "ok") context.exit_code = kExitOk;
    });
}

}  // namespace deft::cli
