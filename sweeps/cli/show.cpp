// deft show: everything known about one trial.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/suggestion.h"
#include "experiments/evaluation/task.h"
#include "reporting/analysis/scores/items_table.h"
#include "reporting/views/json/records_json.h"
#include "reporting/views/text/status.h"
#include "results_db/reader.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/evidence_files.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/results.h"
#include "sweeps/driver/root.h"

namespace deft::cli {

namespace {

// Errors: usage, for a task that the trial has no score of and that deft does not ship.
void require_task(const reporting::Trial& trial, const std::string& task) {
    std::vector<std::string> known = experiments::project_tasks();
    for (const reporting::Score& score : trial.scores) known.insert(known.begin(), score.task);
    if (std::find(known.begin(), known.end(), task) == known.end())
        throw Error(ErrorKind::usage, fmt::format("no task is named {}", task), suggestion(task, known));
}

}  // namespace

void add_show(CLI::App& app, Context&) {
    struct Arguments {
        std::string trial;
        std::string root = sweeps::kDefaultRoot;
        std::vector<std::string> from;
        std::string items;
        std::int64_t shots = 0;
        std::string format = "term";
    };
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand("show", "Show everything known about one trial");
    command
        ->add_option("trial", arguments->trial, "The trial's name, as in baseline/1, or the first digits of its hash")
        ->required();
    add_root(*command, arguments->root);
    add_from(*command, arguments->from);
    CLI::Option* items = command->add_option(
        "--items", arguments->items, "Show each document of this task with its result, from the newest evaluation");
    command->add_option("--shots", arguments->shots, "Number of few-shot examples of that evaluation")->needs(items);
    command->add_option("--format", arguments->format, "The format: term or json; with --items also md, csv or tex")
        ->check(CLI::IsMember({"term", "md", "csv", "tex", "json"}));
    add_json_flag(*command, arguments->format);
    command->callback([arguments] {
        const results_db::Reader reader = open_results(arguments->root, read_evidence(arguments->from));
        const reporting::Trial trial = reporting::trial_of(reader.trial(arguments->trial));
        if (!arguments->items.empty()) {
            const std::string text = reader.items(trial.config_hash, arguments->items, arguments->shots);
            if (text.empty()) {
                require_task(trial, arguments->items);
                throw Error(ErrorKind::missing,
                            fmt::format("{} has no items of task {} with {} few-shot examples", arguments->trial,
                                        arguments->items, arguments->shots),
                            "evaluate it with deft eval TRIAL --tasks TASK --store; perplexity tasks have no items");
            }
            print_exact(
                render_table(reporting::items_table(arguments->items, text), arguments->format, output_width()));
            return;
        }
        if (arguments->format == "json") return print_exact(reporting::render_trial_json(trial));
        if (arguments->format != "term")
            throw Error(ErrorKind::usage, fmt::format("--format {} requires --items", arguments->format),
                        "give --items TASK, or --format json");
        print(reporting::render_trial(trial, reader.expert_loads(trial.config_hash)));
        if (!trial.workdir.empty()) sweeps::below_root(arguments->root, trial.workdir);
    });
}

}  // namespace deft::cli
