// deft eval: evaluates a checkpoint on any tasks, and stores the scores on request.

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>

#include "base/json.h"
#include "base/usable_machine.h"
#include "experiments/evaluate_checkpoint.h"
#include "reporting/analysis/scores/lm_eval.h"
#include "reporting/numbers.h"
#include "reporting/table.h"
#include "reporting/text.h"
#include "reporting/views/text/status.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/find_checkpoint.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/results.h"
#include "sweeps/driver/driver.h"
#include "sweeps/driver/provenance.h"
#include "sweeps/driver/root.h"
#include "sweeps/driver/store_scores.h"

namespace deft::cli {

namespace {

namespace fs = std::filesystem;

struct EvalArguments {
    std::string checkpoint;
    std::string root = sweeps::kDefaultRoot;
    std::vector<std::string> tasks;
    std::vector<std::int64_t> shots;
    std::optional<std::int64_t> documents;
    int threads = 0;
    bool store = false;
    std::string device = "cpu";
    std::string format = "term";
};

// A task file in the working folder takes precedence over one beside the sweep.
std::vector<std::string> task_names(const std::vector<std::string>& tasks) {
    std::vector<std::string> names;
    for (const std::string& task : tasks)
        names.push_back(task.ends_with(".toml") && fs::exists(task) ? fs::absolute(task).string() : task);
    return names;
}

std::vector<reporting::Score> rows_of(const experiments::CheckpointEvaluation& evaluation) {
    std::vector<reporting::Score> rows;
    for (const journal::Evaluation& score : evaluation.scores) {
        reporting::Score row;
        row.task = score.task;
        row.task_version = score.task_version;
        row.measure = score.metric;
        row.unit = score.unit;
        row.better = score.better;
        row.value = score.value;
        row.n = score.n;
        row.shots = score.shots;
        row.standard_error = score.standard_error;
        row.score_key = score.score_key;
        rows.push_back(std::move(row));
    }
    return rows;
}

experiments::TrialSlot slot_of(const EvalArguments& arguments) {
    return {arguments.device == "gpu" ? engine::Device::cuda : engine::Device::cpu,
            arguments.threads > 0 ? arguments.threads : usable_cores()};
}

std::string value_text(const journal::Evaluation& score) {
    std::string text = reporting::score(score.value);
    if (std::isfinite(score.standard_error)) text += " ± " + reporting::score(score.standard_error);
    return text;
}

reporting::Table score_table(const experiments::TrainedModel& trained,
                             const experiments::CheckpointEvaluation& evaluation, const fs::path& folder) {
    using reporting::Align;
    reporting::Table table;
    table.caption = fmt::format("Checkpoint {}: step {} of trial {}", reporting::visible(folder.string()), trained.step,
                                trained.config_hash.substr(0, 8));
    table.columns = {{"task", Align::left},
                     {"version", Align::left},
                     {"shots"},
                     {"metric", Align::left},
                     {"value"},
                     {"n"},
                     {"chance"}};
    for (const journal::Evaluation& score : evaluation.scores)
        table.rows.push_back({score.task, score.task_version, std::to_string(score.shots),
                              score.unit.empty() ? score.metric : fmt::format("{} ({})", score.metric, score.unit),
                              value_text(score), std::to_string(score.n),
                              std::isfinite(score.chance) ? reporting::score(score.chance) : "-"});
    table.notes = evaluation.notes;
    return table;
}

Json number_or_null(double value) {
    return std::isfinite(value) ? Json(value) : Json();
}

Json to_json(const experiments::TrainedModel& trained, const experiments::CheckpointEvaluation& evaluation,
             const fs::path& folder) {
    Json json = {{"schema", "deft-eval/1"},
                 {"checkpoint", folder.string()},
                 {"step", trained.step},
                 {"config_hash", trained.config_hash},
                 {"model_sha256", trained.model_sha256},
                 {"notes", evaluation.notes},
                 {"scores", Json::array()}};
    for (const journal::Evaluation& score : evaluation.scores)
        json["scores"].push_back({{"task", score.task},
                                  {"version", score.task_version},
                                  {"split", score.split},
                                  {"shots", score.shots},
                                  {"metric", score.metric},
                                  {"unit", score.unit},
                                  {"better", score.better},
                                  {"value", number_or_null(score.value)},
                                  {"standard_error", number_or_null(score.standard_error)},
                                  {"n", score.n},
                                  {"chance", number_or_null(score.chance)}});
    return json;
}

// Adds the missing scores to a trial, and prints the trial.
int run_and_store(const EvalArguments& arguments) {
    if (fs::is_directory(arguments.checkpoint) || arguments.format != "term")
        throw Error(ErrorKind::usage, "--store requires a trial and prints it as text",
                    "name a trial, as printed by deft status, and drop --format");
    const results_db::StoredTrial trial = open_results(arguments.root).trial(arguments.checkpoint);
    const fs::path checkpoint = checkpoint_of_trial(arguments.checkpoint, arguments.root);
    experiments::TrialConfig config = experiments::checkpoint_config(checkpoint);
    config.eval.shots = arguments.shots;
    if (!arguments.tasks.empty()) config.eval.tasks = task_names(arguments.tasks);
    if (arguments.documents) config.eval.documents = *arguments.documents;
    experiments::resolve_tasks(config);
    const sweeps::StoredScores stored = sweeps::store_scores(arguments.root, trial, config, slot_of(arguments));
    for (const std::string& line : stored.said) print_message(line + "\n");
    print_message(fmt::format("Scores: {} stored, {} already known\n", stored.scored, stored.known));
    print(reporting::render_trial(reporting::trial_of(open_results(arguments.root).trial(trial.config_hash))));
    return stored.exit_code;
}

int run_eval(const EvalArguments& arguments) {
    if (arguments.store) return run_and_store(arguments);
    const fs::path folder = find_checkpoint(arguments.checkpoint, arguments.root);
    const experiments::TrialSlot slot = slot_of(arguments);
    experiments::TrainedModel trained = experiments::load_trained_model(
        folder, {slot.device, engine::DType::f32, slot.threads},
        experiments::scores_under_capacity(experiments::checkpoint_config(folder).eval));
    const experiments::CheckpointEvaluation evaluation =
        experiments::evaluate_checkpoint(trained, task_names(arguments.tasks), arguments.shots, arguments.documents);
    if (arguments.format == "lm-eval")
        print_exact(reporting::lm_eval_results(
                        {folder.string(), trained.config_hash, trained.model_sha256, sweeps::describe_code().git_sha},
                        rows_of(evaluation))
                        .dump(2, ' ', false, Json::error_handler_t::replace));
    else if (arguments.format == "json")
        print_exact(to_json(trained, evaluation, folder).dump(2, ' ', false, Json::error_handler_t::replace));
    else
        print(score_table(trained, evaluation, folder));
    return kExitOk;
}

}  // namespace

void add_eval(CLI::App& app, Context& context) {
    auto arguments = std::make_shared<EvalArguments>();
    CLI::App* command =
        app.add_subcommand("eval", "Evaluate a checkpoint on any tasks; --store adds the scores to its trial");
    command
        ->add_option("checkpoint", arguments->checkpoint,
                     "The checkpoint's folder, or a trial's name or hash as in deft show")
        ->required();
    command
        ->add_option("--tasks", arguments->tasks, "Task names or files, as in lambada,ptb (default: the trial's tasks)")
        ->delimiter(',')
        ->allow_extra_args(false);
    command
        ->add_option("--documents", arguments->documents,
                     "Evaluate the first n documents of each task, 0: all (default: as for the trial)")
        ->check(at_least(0));
    command
        ->add_option("--shots", arguments->shots,
                     "Numbers of few-shot examples, as in 0,10 (default: from each task file)")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(at_least(0));
    command->add_flag("--store", arguments->store,
                      "Store the scores with the trial, as if its sweep had requested them");
    add_threads(*command, arguments->threads, "Threads (default: all cores)");
    command->add_option("--device", arguments->device, "Where to evaluate: cpu, or gpu for the first GPU")
        ->capture_default_str()
        ->check(CLI::IsMember({"cpu", "gpu"}));
    add_root(*command, arguments->root, "Folder of results");
    command
        ->add_option("--format", arguments->format,
                     "The format: term, json (schema deft-eval/1), or lm-eval, the format of lm-evaluation-harness")
        ->capture_default_str()
        ->check(CLI::IsMember({"term", "json", "lm-eval"}));
    add_json_flag(*command, arguments->format);
    command->callback([arguments, &context] { context.exit_code = run_eval(*arguments); });
}

}  // namespace deft::cli
