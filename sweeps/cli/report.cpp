// deft report: a sweep's results again, in any format.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "reporting/analysis/comparison/per_seed.h"
#include "reporting/analysis/missing/missing_runs.h"
#include "reporting/analysis/scores/lm_eval.h"
#include "reporting/analysis/search/rate_search.h"
#include "reporting/analysis/trace/origins.h"
#include "results_db/reader.h"
#include "results_db/trial_name.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/evidence_files.h"
#include "sweeps/cli/find_table.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/results.h"
#include "sweeps/cli/run_arguments.h"
#include "sweeps/cli/tensorboard_folder.h"
#include "sweeps/driver/search_rates.h"

namespace deft::cli {

namespace {

// FOLDER/TRIAL/results.json of each that is scored. Errors: usage, without a folder; io.
void write_lm_eval(const reporting::Results& sweep, const std::string& folder) {
    if (folder.empty())
        throw Error(ErrorKind::usage, "--format lm-eval writes a file for each trial",
                    "name a folder for them: --out DIR");
    for (const reporting::Trial& trial : sweep.trials) {
        if (trial.scores.empty()) continue;
        const std::string name = results_db::trial_name(trial);
        const reporting::Score& last = trial.scores.back();
        const Json json =
            reporting::lm_eval_results({name, trial.config_hash, last.model_sha256, last.git_sha}, trial.scores);
        std::string below = name;
        std::replace(below.begin(), below.end(), '/', '_');
        const std::filesystem::path file = std::filesystem::path(folder) / below / "results.json";
        make_folder(file.parent_path());
        write_file_atomically(file, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
        print(file.string());
    }
}

// Formats of which --out is a folder.
bool writes_folder(const std::string& format) {
    return format == "lm-eval" || format == "tensorboard";
}

// The FLOPs of each trial by the sweep's plan; none where its file is gone or has changed.
std::map<std::string, double> planned_flops(const reporting::Results& sweep) {
    std::map<std::string, double> flops;
    try {
        const RunArguments run = stored_run(sweep);
        const sweeps::Spec spec = unchanged_spec(run, sweep);
        for (const sweeps::Trial& trial : sweeps::trials_of_results(spec, sweeps::Data::may_be_missing))
            flops[trial.config_hash] = trial.projection.flops;
    } catch (const Error& error) {
        print_note(fmt::format("nothing is planned: {}", error.what()));
    }
    return flops;
}

void print_missing(const results_db::Reader& reader, reporting::Results sweep, const std::string& root,
                   const std::string& format, const std::string& out) {
    if (format == "html" || format == "svg" || writes_folder(format))
        throw Error(ErrorKind::usage, fmt::format("--missing has no {} format", format),
                    "choose term, md, csv, tex or json");
    const auto flops = planned_flops(sweep);
    const reporting::ReportData data = report_data(reader, std::move(sweep), CurvesShown::none);
    const auto runs = reporting::missing_runs(data.sweep, data.about, {root, flops});
    print_to(out, with_short_home(format == "json" ? reporting::render_missing_json(runs, data.sweep)
                                                   : render_table(reporting::missing_table(runs, data.sweep), format,
                                                                  out.empty() ? output_width() : kPlainWidth)));
}

struct Arguments {
    std::string sweep;
    std::string root = sweeps::kDefaultRoot;
    std::string format = "term";
    std::string out;
    std::vector<std::string> from;
    bool full = false, per_seed = false, curves = false, missing = false;
};

// The sweep's page where `deft run` has written it.
std::filesystem::path written_page(const Arguments& arguments, const results_db::SweepHead& sweep) {
    if (!arguments.from.empty()) return {};
    const std::filesystem::path file = report_page_file(arguments.root, sweep);
    return std::filesystem::exists(file) ? file : std::filesystem::path();
}

// Options that name these results again.
std::string options_of(const Arguments& arguments) {
    std::string options = root_option(arguments.root);
    if (!arguments.from.empty()) options += " --from";
    for (const std::string& file : arguments.from) options += " " + reporting::shell_word(file);
    return options;
}

}  // namespace

void add_report(CLI::App& app, Context& context) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand("report", "Print a sweep's results, or write them to a file");
    std::vector<std::string> formats = report_formats();
    formats.insert(formats.end(), {"svg", "lm-eval", "tensorboard"});
    command->add_option("sweep", arguments->sweep, kSweepHelp);
    add_root(*command, arguments->root);
    command
        ->add_option("--format", arguments->format,
                     "The format: term, md, csv, tex, json, html, or svg, the picture of the result; lm-eval writes "
                     "the results of each trial into the folder "
                     "--out, as lm-evaluation-harness does, and tensorboard writes each trial's curves and scores "
                     "there as a run")
        ->check(CLI::IsMember(formats))
        ->capture_default_str();
    add_json_flag(*command, arguments->format);
    add_from(*command, arguments->from);
    command->add_option("--out", arguments->out,
                        "Write the report to this file, or of lm-eval and tensorboard the files to this folder");
    CLI::Option* per_seed = command->add_flag("--per-seed", arguments->per_seed,
                                              "One row a trial, not means over seeds: term, md, csv or tex");
    command->add_flag("--curves", arguments->curves, "One row a logged step of a trial: term, md, csv or tex")
        ->excludes(per_seed);
    command
        ->add_flag(
            "--missing", arguments->missing,
            "The runs that empty cells wait for, cheapest first, with what they would take: term, md, csv, tex or json")
        ->excludes(per_seed)
        ->excludes("--curves");
    command
        ->add_flag("--full", arguments->full,
                   "All columns, costs, notes and provenance in place of the first screen: term")
        ->excludes(per_seed)
        ->excludes("--curves")
        ->excludes("--missing");
    command->callback([arguments, &context] {
        take_name(arguments->from, arguments->sweep);
        const auto files = read_evidence(arguments->from);
        const results_db::Reader reader = open_results(arguments->root, files);
        const bool shows_curves = arguments->format == "html" || arguments->format == "json" ||
                                  arguments->format == "tensorboard" || arguments->curves;
        for (const results_db::NamedEvidence& file : files)
            if (shows_curves) print_note(fmt::format("{}: {}", file.name, results_db::evidence_note(file.text)));
        if (arguments->missing) {
            print_missing(reader, find_table(reader, arguments->sweep, inputs_below(arguments->root)), arguments->root,
                          arguments->format, arguments->out);
            return;
        }
        const CurvesShown curves = arguments->format == "tensorboard" || arguments->curves ? CurvesShown::all
                                   : arguments->format == "html"                           ? CurvesShown::on_page
                                                                                           : CurvesShown::none;
        const reporting::ReportData data =
            report_data(reader, find_sweep(reader, arguments->sweep, inputs_below(arguments->root)), curves);
        if (arguments->format == "lm-eval") {
            write_lm_eval(data.sweep, arguments->out);
            return;
        }
        if (arguments->format == "tensorboard" && !arguments->per_seed && !arguments->curves) {
            print(write_tensorboard_folder(data, arguments->out).string());
            return;
        }
        const int width = arguments->out.empty() ? output_width() : kPlainWidth;
        if (arguments->per_seed)
            print_to(arguments->out, render_table(reporting::per_seed_table(data.sweep), arguments->format, width));
        else if (arguments->curves)
            print_to(arguments->out,
                     render_table(reporting::curves_table(data.sweep, data.curves), arguments->format, width));
        else if (arguments->format == "term" && !arguments->full) {
            const std::string screen =
                render_first_screen(data, written_page(*arguments, data.sweep), options_of(*arguments),
                                    arguments->out.empty() ? screen_width() : kScreenWidth);
            if (arguments->out.empty())
                print_screen(screen);
            else
                print_to(arguments->out, screen);
        } else
            print_to(arguments->out, render_report(data, arguments->format, width));
        context.exit_code = kExitNothing;
        for (const reporting::Trial& trial : data.sweep.trials)
            if (trial.state == "ok") context.exit_code = kExitOk;
    });
}

}  // namespace deft::cli
