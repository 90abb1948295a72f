// deft trace: where one number of a table comes from, and the command that repeats it.

#include "reporting/analysis/trace/trace.h"

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "results_db/reader.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/evidence_files.h"
#include "sweeps/cli/find_table.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/results.h"
#include "sweeps/cli/run_arguments.h"

namespace deft::cli {

namespace {

// The command that ran the sweep; empty where the results keep none.
std::string shape_options(const results_db::SweepHead& sweep) {
    try {
        return stored_run(sweep).shape_options();
    } catch (const Error&) {
        return {};
    }
}

}  // namespace

void add_trace(CLI::App& app, Context& context) {
    struct Arguments {
        std::string table;
        reporting::TraceQuestion question{{}, {}, sweeps::kDefaultRoot, "deft-repeat", {}};
        std::string format = "term";
        std::vector<std::string> from;
    };
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command =
        app.add_subcommand("trace", "Show what one cell of a table rests on, and the command that repeats it");
    command->add_option("table", arguments->table, kTableHelp)->required();
    command
        ->add_option("row", arguments->question.row,
                     "The row: RECIPE, 'RECIPE at 50%' or 'RECIPE[budget_fraction=0.5]', with RECIPE:STAGE where there "
                     "are stages")
        ->required();
    command
        ->add_option(
            "column", arguments->question.column,
            "The column by its title's words or its key: 'lambada acc', 'validation loss', zero_shot, 'train time'")
        ->required();
    add_root(*command, arguments->question.root);
    add_from(*command, arguments->from);
    command
        ->add_option("--repeat-root", arguments->question.repeat_root, "Where the repetition that is printed would go")
        ->capture_default_str();
    command->add_option("--format", arguments->format, "The format: term or json")
        ->check(CLI::IsMember({"term", "json"}))
        ->capture_default_str();
    add_json_flag(*command, arguments->format);
    command->callback([arguments, &context] {
        arguments->question.from = arguments->from;
        const results_db::Reader reader = open_results(arguments->question.root, read_evidence(arguments->from));
        const reporting::ReportData data = report_data(
            reader, find_table(reader, arguments->table, inputs_below(arguments->question.root)), CurvesShown::none);
        arguments->question.options = shape_options(data.sweep);
        const reporting::Trace trace = reporting::trace_cell(data.sweep, data.about, arguments->question);
        if (arguments->format == "json")
            print_exact(reporting::render_trace_json(trace));
        else
            print(reporting::render_trace(trace));
        context.exit_code = trace.value ? kExitOk : kExitNothing;
    });
}

}  // namespace deft::cli
