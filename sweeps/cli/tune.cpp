// deft tune: searches the smallest start and the longest duration of a recipe's techniques without a fluctuation.

#include "experiments/tuning/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "experiments/engine_config.h"
#include "experiments/projection.h"
#include "reporting/analysis/trace/origins.h"
#include "reporting/numbers.h"
#include "reporting/table.h"
#include "reporting/text.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/tune_report.h"
#include "sweeps/driver/progress.h"
#include "sweeps/driver/signals.h"
#include "sweeps/driver/slots.h"

namespace deft::cli {

namespace {

namespace fs = std::filesystem;

struct TuneArguments {
    std::string file, recipe;
    std::string scale = sweeps::kDefaultScale;
    std::vector<std::string> overrides;
    std::optional<std::int64_t> seed;
    experiments::TuneSettings settings;
    double warmup_tokens = 0;
    std::string slots;
    int threads = 0;
    std::string root = sweeps::kDefaultRoot;
    std::string out;
    bool force = false;
};

std::string command_line(const TuneArguments& arguments) {
    SpecArguments spec;
    spec.file = arguments.file;
    std::string line = "deft tune " + spec.text() + " " + reporting::shell_word(arguments.recipe);
    if (arguments.scale != sweeps::kDefaultScale) line += " --scale " + reporting::shell_word(arguments.scale);
    for (const std::string& change : arguments.overrides) line += " --set " + reporting::shell_word(change);
    if (arguments.seed) line += fmt::format(" --seed {}", *arguments.seed);
    const experiments::FluctuationRule& rule = arguments.settings.probe.rule;
    const experiments::FluctuationRule by_default;
    if (rule.threshold != by_default.threshold) line += fmt::format(" --threshold {:g}", rule.threshold);
    if (rule.warmups != by_default.warmups) line += fmt::format(" --warmups {}", rule.warmups);
    if (rule.evaluations != by_default.evaluations) line += fmt::format(" --evaluations {}", rule.evaluations);
    if (arguments.settings.learning_rates > 0)
        line += fmt::format(" --learning-rates {}", arguments.settings.learning_rates);
    return line;
}

// The sweep with only that recipe and one seed.
sweeps::Spec load(const TuneArguments& arguments) {
    sweeps::SpecOptions options;
    options.scale = arguments.scale;
    options.overrides = arguments.overrides;
    if (arguments.seed) options.seeds = std::vector{*arguments.seed};
    sweeps::Spec spec = sweeps::load_spec(arguments.file, options);
    sweeps::require_recipes(spec, {arguments.recipe});
    if (spec.has_stages())
        throw Error(ErrorKind::usage,
                    fmt::format("{} has stages, and probes would need the weights of earlier stages", arguments.file),
                    "write the stage as a separate sweep whose [start] names the checkpoint that it starts from",
                    "no probe was run");
    std::erase_if(spec.recipes, [&](const sweeps::Recipe& entry) { return entry.name != arguments.recipe; });
    spec.seeds.resize(1);
    return spec;
}

std::int64_t warmup_of(const TuneArguments& arguments, const sweeps::Trial& trial) {
    if (arguments.warmup_tokens > 0) return static_cast<std::int64_t>(arguments.warmup_tokens);
    std::int64_t own = experiments::trainer_config(trial.config).learning_rate.warmup_tokens;
    // A warm-up in steps has the most tokens if no step is cut. Such a length covers the baseline and each candidate.
    const experiments::TrainConfig& train = trial.config.train;
    const double whole_steps = static_cast<double>(train.warmup_steps) * static_cast<double>(train.batch_size) *
                               static_cast<double>(trial.config.model.seqlen);
    const auto budget = static_cast<double>(experiments::budget_layer_tokens(train));
    own = std::max(own, static_cast<std::int64_t>(std::min(whole_steps, budget)));
    if (own > 0) return own;
    throw Error(ErrorKind::usage, fmt::format("{} has no warm-up, which sets the length of probes", trial.name()),
                "give its length in consumed tokens (layer-averaged), as in --warmup-tokens 20000, or set "
                "train.warmup_tokens, warmup_steps or warmup_share");
}

// Rejects a file that cannot be written, before hours of probes.
void require_writable(const TuneArguments& arguments) {
    if (arguments.out.empty()) return;
    const fs::path file = arguments.out;
    if (!arguments.force && fs::exists(file))
        throw Error(ErrorKind::usage, fmt::format("{} already exists", file.string()),
                    "choose another file, or overwrite it with --force", file.string());
    require_folder_of(file);
}

std::string rule_text(const experiments::ProbeSettings& settings) {
    const experiments::FluctuationRule& rule = settings.rule;
    return fmt::format(
        "probes of {} warm-ups of {} consumed tokens (layer-averaged), with {} evaluations per warm-up on {} "
        "validation tokens; a loss more than {:g}% above its running minimum is a fluctuation",
        rule.warmups, reporting::si(static_cast<double>(settings.warmup_tokens)), rule.evaluations,
        reporting::si(static_cast<double>(settings.validation_tokens)), 100 * rule.threshold);
}

std::string limits_text(const experiments::ProbeSettings& settings, const experiments::TrialConfig& config) {
    const double share = static_cast<double>(settings.rule.warmups * settings.warmup_tokens) /
                         static_cast<double>(experiments::budget_layer_tokens(config.train));
    return fmt::format(
        "A probe covers only the first {} warm-ups, {:.1f}% of this budget. It does not show later fluctuations or "
        "the final quality.",
        settings.rule.warmups, 100 * std::min(1.0, share));
}

// The values of an axis override a recipe, so an axis would override the settings found.
void warn_of_axes(const sweeps::Spec& spec, const experiments::Tuning& tuning) {
    for (const sweeps::Axis& axis : spec.stages.front().axes)
        for (const experiments::Tuned& tuned : tuning.tuned)
            for (const char* key : {"min", "duration", "steps"})
                if (axis.path == tuned.own.path + "." + key)
                    print(fmt::format("The sweep's axis {} overrides this recipe: remove it from [axes].", axis.path));
}

int report(const TuneArguments& arguments, const sweeps::Spec& spec, const sweeps::Trial& trial,
           const experiments::TuneSettings& settings, const experiments::Tuning& tuning,
           const std::optional<double>& dollars_an_hour) {
    reporting::Table probes = probe_table(tuning);
    probes.caption = fmt::format("{} of sweep {}: {}", trial.name(), spec.name, rule_text(settings.probe));
    print(probes);
    print("\n" + reporting::render_terminal(found_table(tuning), output_width()));
    if (tuning.stopped) {
        print("\nStopped early: the results above are incomplete, and no recipe is written.");
        return kExitWorkLeft;
    }
    if (!tuning.found()) {
        print("\nNo recipe is written: all settings fluctuate.");
        return kExitFailed;
    }
    print("\n" + reporting::render_terminal(cost_table(trial.config, tuning, dollars_an_hour), output_width()));
    print(limits_text(settings.probe, trial.config) + "\n");
    warn_of_axes(spec, tuning);
    std::string toml =
        fmt::format("# {}: {}.\n", reporting::visible(command_line(arguments)), rule_text(settings.probe));
    if (tuning.baseline_rates)
        toml += fmt::format("# Best learning rate of the baseline by the same search: {:g}.\n",
                            *tuning.baseline_rates->best);
    toml += tuned_recipe_toml(spec.recipes.front(), tuning);
    print_to(arguments.out, toml);
    if (!arguments.out.empty()) print(fmt::format("Wrote a [[case]] for the sweep file to {}.", arguments.out));
    return kExitOk;
}

int run_tune(const TuneArguments& arguments) {
    const sweeps::SignalWatch signals;  // before any thread
    require_writable(arguments);
    const sweeps::Spec spec = load(arguments);
    sweeps::Trial trial = sweeps::expand(spec).front();
    if (experiments::is_imported(trial.config))
        throw Error(ErrorKind::usage, fmt::format("{} is imported and not trained", trial.recipe),
                    "name a recipe that trains");
    const sweeps::SlotRequest request = sweeps::parse_slots(arguments.slots.empty() ? spec.slots : arguments.slots);
    const int threads = sweeps::threads_for(arguments.threads > 0 ? arguments.threads : spec.threads, request, {trial});
    const std::vector<sweeps::Slot> slots = sweeps::make_slots(request, threads, {trial});
    sweeps::require_fit(trial, slots);
    trial = sweeps::with_recompute(std::move(trial), slots.front(), slots.front().device);
    experiments::TuneSettings settings = arguments.settings;
    settings.probe.device = slots.front().device;
    settings.probe.threads = threads;
    settings.probe.warmup_tokens = warmup_of(arguments, trial);

    sweeps::ProgressLine line;
    std::size_t begun = 0;
    std::string last;
    const experiments::TuneWatch watch = [&](const std::string& what, double fraction) {
        begun += what != last ? 1 : 0;
        last = what;
        line.show(fmt::format("probe {}: {}", begun, what), fraction);
        return signals.interrupts() == 0 && !signals.terminated();
    };
    const experiments::Dataset dataset = experiments::load_dataset(
        trial.config.data, trial.config.model.seqlen, trial.config.base_folder, sweeps::data_folder(arguments.root));
    print_note(dataset.note);
    const experiments::Tuning tuning = experiments::tune(trial.config, dataset, settings, watch);
    line.clear();
    std::optional<double> dollars_an_hour;
    if (const auto& price = spec.price)
        dollars_an_hour = price->usd_per_hour * sweeps::devices_a_trial(slots.front(), threads);
    return report(arguments, spec, trial, settings, tuning, dollars_an_hour);
}

}  // namespace

void add_tune(CLI::App& app, Context& context) {
    auto arguments = std::make_shared<TuneArguments>();
    CLI::App* command = app.add_subcommand(
        "tune", "Find the smallest start and the longest duration of a recipe's techniques, by short probes");
    command->footer(
        "Each probe trains only the first warm-ups of the recipe, with one technique at a time. deft searches the\n"
        "smallest min at the technique's own duration, then the longest duration at that min, for which the\n"
        "validation loss does not fluctuate. It probes all settings together at the end, and prints them as a\n"
        "[[case]] for the sweep file. With axes, it uses the first combination; --set selects another.\n"
        "Exit: 0 found, 1 everything fluctuates, 2 usage, 75 stopped by Ctrl-C after printing partial results.");
    experiments::ProbeSettings& probe = arguments->settings.probe;
    command->add_option("sweep", arguments->file, "The sweep file")->required();
    command->add_option("case", arguments->recipe, "The recipe whose techniques are tuned")->required();
    command->add_option("--scale", arguments->scale, "The scale to tune at")->capture_default_str();
    command->add_option("--set", arguments->overrides, "Override a value of the recipe, as in train.learning_rate=1e-3")
        ->allow_extra_args(false);
    command->add_option("--seed", arguments->seed, "Seed of all probes (default: the sweep's first seed)")
        ->check(at_least(0));
    add_number(*command, "--threshold", probe.rule.threshold,
               "Fraction by which a fluctuation exceeds the running minimum of the loss", 1e-6, 10.0);
    add_number(*command, "--warmups", probe.rule.warmups, "Length of a probe in warm-ups", 1, 1000);
    add_number(*command, "--evaluations", probe.rule.evaluations, "Evaluations per warm-up", 1, 1000);
    command
        ->add_option("--warmup-tokens", arguments->warmup_tokens,
                     "Layer-averaged tokens per warm-up (default: those of the recipe)")
        ->check(CLI::Range(1.0, 1e15));
    command->add_option("--validation-tokens", probe.validation_tokens, "Maximum validation tokens per evaluation")
        ->capture_default_str()
        ->check(at_least(1));
    command
        ->add_option("--learning-rates", arguments->settings.learning_rates,
                     "Number of learning rates, a factor of 2 apart, to try for the recipe and for its baseline")
        ->check(CLI::Range(1, 15));
    command->add_option("--slots", arguments->slots, "Where to train, as in deft run; only the first worker is used");
    add_threads(*command, arguments->threads);
    add_root(*command, arguments->root, "Folder of tokenized corpora");
    command->add_option("--out", arguments->out, "Write the recipe to this file");
    command->add_flag("--force", arguments->force, "Overwrite the file");
    command->callback([arguments, &context] { context.exit_code = run_tune(*arguments); });
}

}  // namespace deft::cli
