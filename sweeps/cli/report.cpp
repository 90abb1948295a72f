// deft report: a sweep's results again, in any format.

#include <memory>

#include "base/error.h"
#include "reporting/per_seed.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/results.h"

namespace deft::cli {

void add_report(CLI::App& app, Context& context) {
    struct Arguments {
        std::string sweep;
        std::string root = sweeps::kDefaultRoot;
        std::string format = "term";
        std::string out;
        bool per_seed = false, curves = false;
    };
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand("report", "Print a sweep's results, or write them to a file");
    command->add_option("sweep", arguments->sweep, kSweepHelp);
    add_root(*command, arguments->root);
    command->add_option("--format", arguments->format, "The format: term, md, csv, tex, json or html")
        ->check(CLI::IsMember(report_formats()))
        ->capture_default_str();
    command->add_option("--out", arguments->out, "Write the report to this file");
    CLI::Option* per_seed = command->add_flag("--per-seed", arguments->per_seed,
                                              "One row a trial, not means over seeds: term, md, csv or tex");
    command->add_flag("--curves", arguments->curves, "One row a logged step of a trial: term, md, csv or tex")
        ->excludes(per_seed);
    command->callback([arguments, &context] {
        const results_db::Reader reader = open_results(arguments->root);
        const reporting::ReportData data =
            report_data(reader, find_sweep(reader, arguments->sweep), arguments->format == "html" || arguments->curves);
        const int width = arguments->out.empty() ? output_width() : kPlainWidth;
        if (arguments->per_seed)
            print_to(arguments->out, render_table(reporting::per_seed_table(data.sweep), arguments->format, width));
        else if (arguments->curves)
            print_to(arguments->out,
                     render_table(reporting::curves_table(data.sweep, data.curves), arguments->format, width));
        else
            print_to(arguments->out, render_report(data, arguments->format, width));
        context.exit_code = kExitNothing;
        for (const results_db::TrialRow& trial : data.sweep.trials)
            if (trial.state == "ok") context.exit_code = kExitOk;
    });
}

}  // namespace deft::cli
