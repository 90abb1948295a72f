// deft plan: what a sweep, or a model by itself, would train and consume, without training.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>

#include "base/files.h"
#include "base/json.h"
#include "experiments/difficulty_column.h"
#include "experiments/draws.h"
#include "experiments/model_presets.h"
#include "reporting/analysis/trace/origins.h"
#include "reporting/table.h"
#include "reporting/text.h"
#include "reporting/views/render/html.h"
#include "results_db/reader.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/plan_comparison.h"
#include "sweeps/cli/plan_jobs_table.h"
#include "sweeps/cli/plan_prediction_table.h"
#include "sweeps/cli/plan_preset.h"
#include "sweeps/cli/plan_ranks_tables.h"
#include "sweeps/cli/plan_tables.h"
#include "sweeps/cli/predicted_step.h"
#include "sweeps/driver/check_tasks.h"
#include "sweeps/driver/launchers.h"
#include "sweeps/driver/machine_limits.h"
#include "sweeps/driver/plan.h"
#include "sweeps/driver/plan_jobs.h"
#include "sweeps/driver/plan_prediction.h"
#include "sweeps/driver/plan_ranks.h"
#include "sweeps/driver/plan_regime.h"
#include "sweeps/driver/progress.h"
#include "sweeps/driver/root.h"
#include "sweeps/driver/slots.h"
#include "sweeps/spec/select.h"
#include "sweeps/spec/slot_request.h"

namespace deft::cli {

namespace {

struct PlanArguments {
    SpecArguments spec;
    PresetPlanArguments preset;  // instead of a sweep
    bool memory = false;
    bool json = false;
    bool print_config = false;
    std::string figures;  // a file to write
    bool draws = false;
    int ranks = 0;                            // 0: the sweep's
    int expert_ranks = 0;                     // of them that divide the experts of a layer; 0: as each recipe says
    std::string launcher, slurm;              // slurm: show the jobs; settings over the sweep's
    std::string root = sweeps::kDefaultRoot;  // of what --draws tokenises and analyses, and what has a column
};

void print_configurations(const std::vector<sweeps::Trial>& trials) {
    Json all = Json::array();
    for (const sweeps::Trial& trial : trials)
        all.push_back({{"case", trial.recipe},
                       {"axes", trial.axes},
                       {"seed", trial.seed},
                       {"config_hash", trial.config_hash},
                       {"variant_hash", trial.variant_hash},
                       {"config", experiments::to_json(trial.config)}});
    print_exact(json_text(all, 2));
}

// Tokenises and analyses what is not there yet.
void print_draws(const std::vector<sweeps::PlanRow>& rows, const std::string& root) {
    sweeps::ProgressLine line;
    const auto progress = shown_on(line);
    std::vector<experiments::DrawTotals> draws;
    for (const sweeps::PlanRow& row : rows) {
        const experiments::TrialConfig& config = row.trial.config;
        const experiments::Dataset samples = experiments::load_dataset(
            config.data, config.model.seqlen, config.base_folder, sweeps::data_folder(root), progress);
        line.clear();
        print_note(samples.note);
        draws.push_back(experiments::simulate_draws(config, samples, progress));
    }
    line.clear();
    print("\n" + reporting::render_terminal(draws_table(rows, draws), output_width()));
    print("\n" + reporting::render_terminal(epochs_table(rows, draws), output_width()));
}

// Refuses a column that does not fit its corpus, where the corpus is here. It is tokenised for this where it is not
// yet.
void check_columns(const std::vector<sweeps::Trial>& trials, const std::string& root) {
    sweeps::ProgressLine line;
    const auto progress = shown_on(line);
    std::set<std::string> seen;  // rows: seeds have the same columns
    for (const sweeps::Trial& trial : trials) {
        const bool here =
            experiments::has_columns(trial.config) && trial.config.data.sha256 != experiments::kDataMissing;
        if (!here || !seen.insert(trial.variant_hash).second) continue;
        const std::string note = experiments::check_columns(trial.config, sweeps::data_folder(root), progress);
        line.clear();
        print_note(note);
    }
}

void print_jobs(const sweeps::JobsPlan& jobs) {
    print("\n" + reporting::render_terminal(jobs_table(jobs), output_width()));
    if (jobs.command.empty()) return;
    std::string line;
    for (const std::string& word : jobs.command) line += " " + reporting::shell_word(word);
    print(fmt::format("\nThe first job is submitted by:\n {}", line));
}

Json predicted_json(const sweeps::PlanPrediction& prediction, const sweeps::Plan& plan) {
    Json json = sweeps::to_json(prediction, plan);
    if (prediction.lacks.empty()) json["card"] = prediction_sources(prediction.on.card, prediction.on.dtype);
    return json;
}

void print_ranks(const sweeps::RanksPlan& ranks, const sweeps::Plan& plan) {
    print("\n" + reporting::render_terminal(rank_memory_table(ranks, plan), output_width()));
    print("\n" + reporting::render_terminal(rank_traffic_table(ranks, plan), output_width()));
}

// A trial's cores are those of `deft run` without --threads.
sweeps::JobsPlan plan_of_jobs(const PlanArguments& arguments, const sweeps::Spec& spec, const sweeps::Plan& plan,
                              const std::vector<sweeps::Trial>& trials) {
    sweeps::SlotRequest slots = sweeps::parse_slots(spec.slots);
    slots.ranks = spec.ranks;
    slots.ranks_per_node = spec.ranks_per_node;
    slots.is_queued = true;
    sweeps::JobsPlanRequest request;
    request.settings = spec.slurm;
    sweeps::apply_slurm_option(arguments.slurm, request.settings);
    sweeps::require_shape(request.settings, slots);
    request.nodes = slots.nodes_of_trial();
    if (request.nodes > 1) request.ranks = spec.ranks;
    request.root = arguments.root;
    request.cores = sweeps::threads_for(spec.threads, slots, trials) * spec.ranks;
    if (slots.where == sweeps::SlotRequest::Where::gpu) request.gpus = spec.ranks;
    if (std::filesystem::exists(sweeps::database_file(arguments.root))) {
        const results_db::Reader reader(sweeps::database_file(arguments.root));
        const std::vector<std::string> stored = reader.sweep_names();
        if (std::ranges::find(stored, spec.name) != stored.end()) {
            const results_db::SweepPace pace = reader.pace(spec.name);
            request.flops_per_second = pace.seconds > 0 ? pace.flops / pace.seconds : 0;
        }
    }
    return sweeps::plan_jobs(plan, request);
}

bool is_preset(const std::string& name) {
    const std::vector<std::string> known = experiments::model_presets();
    return std::find(known.begin(), known.end(), name) != known.end();
}

void check(const PlanArguments& arguments) {
    if (arguments.spec.file.empty())
        throw Error(ErrorKind::usage, "there is nothing to plan",
                    "name a sweep file, as in sweeps/quickstart.toml, or a model, as in --preset gpt3_1.3b");
    if (!std::filesystem::exists(arguments.spec.file) && is_preset(arguments.spec.file))
        throw Error(ErrorKind::usage, fmt::format("{} is a preset, not a sweep file", arguments.spec.file),
                    "write deft plan --preset " + arguments.spec.file);
    if (arguments.draws && (arguments.json || arguments.print_config))
        throw Error(ErrorKind::usage, "--draws prints tables, and --json and --print-config print JSON alone",
                    "give one of them");
}

void refuse_sweep(const PlanArguments& arguments) {
    if (!arguments.spec.file.empty())
        throw Error(ErrorKind::usage,
                    fmt::format("--preset plans a model by itself, and {} is a sweep", arguments.spec.file),
                    fmt::format("name one of them, or give the sweep that model: --set model.preset={}",
                                arguments.preset.preset));
}

int run_plan(const PlanArguments& arguments) {
    if (!arguments.preset.preset.empty()) {
        refuse_sweep(arguments);
        print_preset_plan(arguments.preset, arguments.memory, arguments.json);
        return kExitOk;
    }
    check(arguments);
    sweeps::Spec spec = arguments.spec.load();
    if (arguments.ranks > 0) spec.ranks = arguments.ranks;
    if (spec.ranks_per_node > 0 && spec.ranks % spec.ranks_per_node != 0) spec.ranks_per_node = 0;  // by --ranks
    std::vector<sweeps::Trial> trials =
        sweeps::expand(spec, arguments.draws ? sweeps::Data::required : sweeps::Data::may_be_missing);
    sweeps::require_selected(spec, trials, arguments.spec.only);
    std::erase_if(trials, [&](const sweeps::Trial& trial) { return !arguments.spec.selects(trial); });
    if (trials.empty()) throw Error(ErrorKind::usage, "the excludes leave no trial of these recipes");
    check_columns(trials, arguments.root);
    sweeps::check_tasks(trials);
    if (arguments.print_config) {
        print_configurations(trials);
        return kExitOk;
    }
    sweeps::Slot slot = sweeps::planned_slot(spec, trials, arguments.launcher == "slurm");
    sweeps::Plan plan = sweeps::make_plan(spec, trials, slot);
    for (std::string& line : sweeps::plan_regime_notes(spec, plan, arguments.root))
        plan.notes.push_back(std::move(line));
    // A sweep that names a device is planned for another machine.
    if (!spec.device) {
        slot.device = sweeps::planned_device(spec, trials.front().config);
        std::vector<sweeps::Trial> limited = trials;
        if (arguments.expert_ranks > 0)
            for (sweeps::Trial& trial : limited)
                trial.config.train.expert_ranks = experiments::has_experts(trial.config) ? arguments.expert_ranks : 1;
        for (std::string& line :
             sweeps::exceeded_limits(limited, slot, 1, sweeps::this_machine(arguments.root), arguments.root))
            plan.notes.push_back(std::move(line));
    }
    std::optional<sweeps::RanksPlan> ranks;
    if (spec.ranks > 1 || arguments.expert_ranks > 1)
        ranks = sweeps::plan_ranks(spec, plan, spec.ranks, arguments.expert_ranks);
    const auto prediction = sweeps::predict_plan(spec, plan, arguments.preset.hardware);
    std::optional<sweeps::JobsPlan> jobs;
    if (arguments.launcher == "slurm") jobs = plan_of_jobs(arguments, spec, plan, trials);
    if (arguments.json) {
        Json json = sweeps::to_json(plan);
        if (jobs) json["slurm"] = sweeps::to_json(*jobs);
        if (ranks) json["ranks"] = sweeps::to_json(*ranks, plan);
        if (prediction) json["predicted"] = predicted_json(*prediction, plan);
        print_exact(json_text(json, 2));
        return kExitOk;
    }
    reporting::Table table = plan_table(plan);
    if (prediction) add_predicted_steps(table, *prediction);
    print(table);
    if (const reporting::Table compared = comparison_table(plan); !compared.rows.empty())
        print("\n" + reporting::render_terminal(compared, output_width()));
    if (prediction) print("\n" + reporting::render_terminal(prediction_table(plan, *prediction), output_width()));
    if (ranks) print_ranks(*ranks, plan);
    if (jobs) print_jobs(*jobs);
    std::vector<sweeps::PlanRow> trained = plan.rows;
    std::erase_if(trained, [](const sweeps::PlanRow& row) { return experiments::is_imported(row.trial.config); });
    if (arguments.draws && !trained.empty()) print_draws(trained, arguments.root);
    if (!arguments.figures.empty()) {
        write_file_atomically(arguments.figures, reporting::render_figures_page(
                                                     fmt::format("Schedules of {}, scale {}", plan.sweep, plan.scale),
                                                     "What each step takes, as planned; nothing was trained. "
                                                     "Quantities that no recipe changes are left out.",
                                                     schedule_figures(trained)));
        print(fmt::format("\nfigures: {}", arguments.figures));
    }
    if (arguments.memory) {
        const experiments::TrialConfig& config = plan.rows.front().trial.config;
        const engine::Device device = sweeps::planned_device(spec, config);
        print(fmt::format("\nMemory of {} on {}:", trials.front().name(),
                          device == engine::Device::cuda ? "a GPU" : "the CPU"));
        if (!experiments::is_imported(config)) {
            print("Training");
            print(experiments::memory_table(config, device) + "\n");
        }
        print("Evaluation");
        print(experiments::scoring_memory_table(config, device));
    }
    return kExitOk;
}

}  // namespace

void add_plan(CLI::App& app, Context& context) {
    auto arguments = std::make_shared<PlanArguments>();
    CLI::App* command = app.add_subcommand(
        "plan", "Show what a sweep would train and consume, or with --preset what a model by itself would");
    arguments->spec.add_to(*command, false);
    command->add_flag("--memory", arguments->memory, "List the buffers of the first trial, or each one of the preset");
    command->add_option("--figures", arguments->figures, "Draw every schedule into this HTML file");
    command->add_flag(
        "--draws", arguments->draws,
        "Show what the sampler of each recipe draws; tokenises and analyses the corpus, and trains nothing");
    add_root(*command, arguments->root,
             "Where --draws, and recipes with a column, keep tokenised corpora and what was found");
    command
        ->add_option("--ranks", arguments->ranks,
                     "Show memory and traffic of a rank with this many ranks per trial, in place of the sweep's ranks")
        ->check(CLI::Range(1, sweeps::kMostRanks));
    command
        ->add_option("--expert-ranks", arguments->expert_ranks,
                     "So many of the ranks divide the experts of each layer, in place of train.expert_ranks")
        ->check(CLI::Range(1, sweeps::kMostRanks));
    command->add_option("--launcher", arguments->launcher, "slurm: show the jobs that deft run would submit")
        ->check(CLI::IsMember({"slurm"}));
    command->add_option("--slurm", arguments->slurm, sweeps::kSlurmHelp)->needs("--launcher");
    command->add_flag("--json", arguments->json,
                      "Print the plan as JSON (schema deft-plan/1, of a preset deft-preset-plan/1)");
    command->add_flag("--print-config", arguments->print_config, "Print each trial's full configuration as JSON");
    arguments->preset.add_to(*command);
    command->callback([arguments, &context] { context.exit_code = run_plan(*arguments); });
}

}  // namespace deft::cli
