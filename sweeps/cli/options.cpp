#include "sweeps/cli/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <random>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "reporting/analysis/trace/origins.h"
#include "sweeps/spec/select.h"

namespace deft::cli {

std::string root_option(const std::filesystem::path& root) {
    return root == sweeps::kDefaultRoot ? std::string() : " --root " + reporting::shell_word(root.string());
}

void add_root(CLI::App& command, std::string& root, const char* help) {
    command.add_option("--root", root, help)->capture_default_str();
}

void add_json_flag(CLI::App& command, std::string& format) {
    command.add_flag_callback(
        "--json", [&format] { format = "json"; }, "The same as --format json");
}

std::string read_named_file(const std::string& file) {
    if (!std::filesystem::exists(file))
        throw Error(ErrorKind::usage, fmt::format("file {} does not exist", file), "check the path");
    return read_input(file);
}

void add_threads(CLI::App& command, int& threads, const char* help) {
    CLI::Option* option = command.add_option("--threads", threads, help)->check(CLI::Range(1, 1024));
    if (threads > 0) option->capture_default_str();
}

void add_patterns(CLI::App& command, std::vector<std::string>& patterns) {
    command.add_option("-k,--case", patterns, "Only cases whose name matches, as in 'linear_*'; several are joined");
}

void add_rounds(CLI::App& command, sweeps::RoundSettings& rounds) {
    add_number(command, "--rounds", rounds.rounds, "Rounds of each model, the first tenth dropped", 2, 1000);
    add_number(command, "--segment", rounds.segment_seconds, "About how many seconds of each arm in a round", 0.001,
               60.0);
    command.add_option("--seed", rounds.seed, "Seed of the orders; 0: a new one");
}

std::uint64_t seed_or_drawn(std::uint64_t seed) {
    return seed != 0 ? seed : std::random_device()();
}

CLI::Validator at_least(std::int64_t least) {
    const auto problem = [least](std::string& text) {
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool whole = error == std::errc() && end == text.data() + text.size();
        return whole && value >= least ? std::string()
                                       : fmt::format("{} is not an integer of at least {}", text, least);
    };
    return {problem, fmt::format("INT >= {}", least)};
}

void SpecArguments::add_to(CLI::App& command, bool file_is_required) {
    command.add_option("sweep", file, "A sweep file, or the name of a bundled sweep, as in quickstart")
        ->required(file_is_required);
    command.add_option("--scale", scale, "The scale to run it at")->capture_default_str();
    command.add_option("--set", overrides, "Lay a value over every recipe, as in train.learning_rate=1e-3")
        ->allow_extra_args(false);
    command
        .add_option_function<std::vector<std::string>>(
            "--only",
            [this](const std::vector<std::string>& texts) {
                only.clear();
                for (const std::string& text : texts)
                    for (std::string& name : sweeps::split_names(text)) only.push_back(std::move(name));
            },
            "Only these recipes, rows or trials, as in baseline,'CL at 50%' or 'CL[budget_fraction=0.5]/1'")
        ->allow_extra_args(false);
    command.add_option("--seeds", seeds, "How many seeds, or a list of them as in 4,7");
}

sweeps::Spec SpecArguments::load() const {
    sweeps::SpecOptions options;
    options.scale = scale;
    options.overrides = overrides;
    if (!seeds.empty()) options.seeds = sweeps::parse_seeds(seeds);
    sweeps::Spec spec = sweeps::load_spec(file, options);
    sweeps::require_selectable(spec, only);
    return spec;
}

bool SpecArguments::selects(const sweeps::Trial& trial) const {
    return sweeps::is_selected(trial, only);
}

sweeps::Trial SpecArguments::first_trial(sweeps::Data data) const {
    const sweeps::Spec spec = load();
    const std::vector<sweeps::Trial> trials = sweeps::expand(spec, data);
    sweeps::require_selected(spec, trials, only);
    for (const sweeps::Trial& trial : trials)
        if (selects(trial) && !experiments::is_imported(trial.config)) return trial;
    throw Error(ErrorKind::usage, "the excludes leave no trial of these recipes that trains", "name other recipes");
}

std::string SpecArguments::text() const {
    const auto quoted = [](const std::string& word) { return reporting::shell_word(word); };
    std::string line = quoted(file);
    if (scale != sweeps::kDefaultScale) line += " --scale " + quoted(scale);
    for (const std::string& change : overrides) line += " --set " + quoted(change);
    for (const std::string& name : only) line += " --only " + quoted(name);
    if (!seeds.empty()) line += " --seeds " + quoted(seeds);
    return line;
}

}  // namespace deft::cli
