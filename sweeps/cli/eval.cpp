// deft eval: scores a checkpoint on any tasks. Nothing is stored.

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <optional>

#include "base/json.h"
#include "experiments/checkpoints.h"
#include "experiments/evaluate_checkpoint.h"
#include "reporting/numbers.h"
#include "reporting/table.h"
#include "reporting/text.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/results.h"
#include "sweeps/driver/driver.h"
#include "sweeps/driver/root.h"
#include "sweeps/driver/slots.h"

namespace deft::cli {

namespace {

namespace fs = std::filesystem;

struct EvalArguments {
    std::string checkpoint;
    std::string root = sweeps::kDefaultRoot;
    std::vector<std::string> tasks;
    std::optional<std::int64_t> documents;
    int threads = 0;
    std::string device = "cpu";
    bool json = false;
};

// The newest checkpoint of a trial that is given by its name or hash, as tables print them.
fs::path checkpoint_of_trial(const EvalArguments& arguments) {
    if (!fs::exists(sweeps::database_file(arguments.root)))
        throw Error(ErrorKind::missing,
                    fmt::format("there is no folder {}, and no results in {} to look for such a trial",
                                arguments.checkpoint, arguments.root),
                    "name a checkpoint's folder, or a trial and its root with --root");
    const results_db::TrialRow trial = open_results(arguments.root).trial(arguments.checkpoint);
    const fs::path folder = sweeps::below_root(arguments.root, sweeps::checkpoint_folder({}, trial.config_hash));
    if (const auto newest = experiments::newest_checkpoint(folder)) return *newest;
    throw Error(ErrorKind::missing, fmt::format("{} has no checkpoint in {}", arguments.checkpoint, folder.string()),
                "run the sweep again, or name the folder where its checkpoint is");
}

fs::path find_checkpoint(const EvalArguments& arguments) {
    const fs::path folder = arguments.checkpoint;
    if (!fs::is_directory(folder)) return checkpoint_of_trial(arguments);
    if (fs::exists(folder / "checkpoint.json")) return folder;
    if (const auto newest = experiments::newest_checkpoint(folder)) return *newest;
    throw Error(ErrorKind::io, fmt::format("{} is no checkpoint: it has no checkpoint.json", folder.string()),
                "name a folder such as deft-runs/checkpoints/HASH/step_00000100");
}

// A task file in the working folder comes before one beside the sweep.
std::vector<std::string> task_names(const std::vector<std::string>& tasks) {
    std::vector<std::string> names;
    for (const std::string& task : tasks)
        names.push_back(task.ends_with(".toml") && fs::exists(task) ? fs::absolute(task).string() : task);
    return names;
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

int run_eval(const EvalArguments& arguments) {
    const fs::path folder = find_checkpoint(arguments);
    const engine::Backend backend{arguments.device == "gpu" ? engine::Device::cuda : engine::Device::cpu,
                                  engine::DType::f32,
                                  arguments.threads > 0 ? arguments.threads : sweeps::usable_cores()};
    experiments::TrainedModel trained = experiments::load_trained_model(folder, backend);
    const experiments::CheckpointEvaluation evaluation =
        experiments::evaluate_checkpoint(trained, task_names(arguments.tasks), arguments.documents);
    if (arguments.json)
        print(to_json(trained, evaluation, folder).dump(2, ' ', false, Json::error_handler_t::replace));
    else
        print(score_table(trained, evaluation, folder));
    return kExitOk;
}

}  // namespace

void add_eval(CLI::App& app, Context& context) {
    auto arguments = std::make_shared<EvalArguments>();
    CLI::App* command = app.add_subcommand("eval", "Score a checkpoint on any tasks; nothing is stored");
    command
        ->add_option("checkpoint", arguments->checkpoint,
                     "The checkpoint's folder, or a trial's name or hash as in deft show")
        ->required();
    command
        ->add_option("--tasks", arguments->tasks,
                     "Tasks by name or file, as in lambada,ptb; without it, the trial's own")
        ->delimiter(',')
        ->allow_extra_args(false);
    command
        ->add_option("--documents", arguments->documents,
                     "Score the first n documents of each task, 0: all; without it, as many as the trial did")
        ->check(at_least(0));
    add_threads(*command, arguments->threads, "Threads; all cores where left out");
    command->add_option("--device", arguments->device, "Where to score: cpu, or gpu for the first GPU")
        ->capture_default_str()
        ->check(CLI::IsMember({"cpu", "gpu"}));
    add_root(*command, arguments->root, "Where a trial's results are");
    command->add_flag("--json", arguments->json, "Print the scores as JSON (schema deft-eval/1)");
    command->callback([arguments, &context] { context.exit_code = run_eval(*arguments); });
}

}  // namespace deft::cli
