#include "sweeps/cli/run_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "reporting/analysis/trace/origins.h"
#include "reporting/text.h"
#include "results_db/sweep_heads.h"
#include "sweeps/driver/launchers.h"
#include "sweeps/driver/search_rates.h"
#include "sweeps/spec/slot_request.h"
#include "sweeps/spec/sweep_file.h"

namespace deft::cli {

namespace {

// The first line in which two texts differ: "line 3 was 'a' and is 'b'".
std::string first_difference(const std::string& before, const std::string& after) {
    const std::vector<std::string_view> old_lines = reporting::lines_of(before), new_lines = reporting::lines_of(after);
    const auto line = [](const std::vector<std::string_view>& lines, std::size_t at) {
        return at < lines.size() ? "'" + reporting::visible(lines[at]) + "'" : std::string("not there");
    };
    for (std::size_t at = 0; at < std::max(old_lines.size(), new_lines.size()); ++at)
        if (line(old_lines, at) != line(new_lines, at))
            return fmt::format("line {} was {} and is {}", at + 1, line(old_lines, at), line(new_lines, at));
    return "its own text is the same, and a file that it inherits from is not";
}

[[noreturn]] void fail_unknown(const results_db::SweepHead& sweep) {
    throw Error(ErrorKind::missing,
                fmt::format("the results do not say which file sweep {} was", results_db::full_name(sweep)),
                "run its file: deft run SWEEP.toml --root ROOT");
}

}  // namespace

void RunArguments::add_to(CLI::App& command, bool file_is_required) {
    spec.add_to(command, file_is_required);
    add_root(command, root, "Where results go");
    command.add_option(
        "--slots", slots,
        "Trials at once: auto, or as in cpu:2, gpu:1, gpu:1/2 (two on a card), gpu:1/auto (as many as its "
        "memory holds)");
    command.add_flag("--mps", mps,
                     "Start CUDA's multi-process service where none runs, so that trials on a card run side by side");
    add_threads(command, threads,
                "Threads of each trial; chosen by the size of the models where neither this nor the sweep says");
    command.add_option("--ranks", ranks, "Processes that train each trial together, in place of the sweep's ranks")
        ->check(CLI::Range(1, sweeps::kMostRanks));
    command
        .add_option("--ranks-per-node", ranks_per_node,
                    "Ranks of a trial on each node of Slurm, or each host of --hostfile, in place of the sweep's "
                    "ranks_per_node")
        ->check(CLI::Range(1, sweeps::kMostRanks));
    command.add_option("--hostfile", hostfile,
                       "Hosts that the ranks of a trial span without Slurm: a hostfile of Open MPI, in place of the "
                       "sweep's hostfile");
    command.add_option("--agent", agent,
                       "Command that reaches these hosts, as in \"ssh -p 22\", in place of the sweep's agent or ssh");
    command.add_option("--launcher", launcher, sweeps::kLauncherHelp)->capture_default_str();
    command.add_option("--slurm", slurm, sweeps::kSlurmHelp);
    command.add_option("--progress", progress, "How to show progress: auto, live, plain or none")
        ->capture_default_str();
    command.add_flag("--retrain", retrain, "Train again what is to be scored and whose checkpoint is gone");
    command
        .add_option(
            "--rerun-if", rerun_if,
            "Which stale results to repeat: by code (another result epoch) or data the training "
            "and its scores, by eval (a task's file or records, or the evaluation) the scores; never: none, and "
            "only what was never measured is")
        ->capture_default_str();
    command.add_flag("--dry-run", dry_run, "Say what would be trained, and train nothing");
    command.add_flag("--fail-fast", fail_fast, "Start no trial after the first that failed");
}

std::string RunArguments::continue_with() const {
    std::string line = "deft run " + spec.text() + root_option(root);
    const std::string shape = shape_options();
    if (!shape.empty()) line += " " + shape;
    if (ranks_per_node > 0) line += " --ranks-per-node " + std::to_string(ranks_per_node);
    if (!hostfile.empty()) line += " --hostfile " + reporting::shell_word(hostfile);
    if (!agent.empty()) line += " --agent " + reporting::shell_word(agent);
    if (launcher != "auto") line += " --launcher " + reporting::shell_word(launcher);
    if (!slurm.empty()) line += " --slurm " + reporting::shell_word(slurm);
    if (mps) line += " --mps";
    if (rerun_if != kRerunAll) line += " --rerun-if " + reporting::shell_word(rerun_if);
    return line;
}

std::string RunArguments::shape_options() const {
    std::string line;
    if (!slots.empty()) line += " --slots " + reporting::shell_word(slots);
    if (threads > 0) line += " --threads " + std::to_string(threads);
    if (ranks > 0) line += " --ranks " + std::to_string(ranks);
    return line.empty() ? line : line.substr(1);
}

RunArguments stored_run(const results_db::SweepHead& sweep) {
    std::vector<std::string> words = reporting::shell_words(sweep.command);
    if (words.size() < 3 || words[0] != "deft" || words[1] != "run") fail_unknown(sweep);
    RunArguments arguments;
    CLI::App command;
    arguments.add_to(command, true);
    words.erase(words.begin(), words.begin() + 2);
    std::reverse(words.begin(), words.end());  // as CLI11 takes them
    try {
        command.parse(std::move(words));
    } catch (const CLI::ParseError&) {
        fail_unknown(sweep);
    }
    return arguments;
}

sweeps::Spec unchanged_spec(const RunArguments& stored, const reporting::Results& sweep) {
    const std::string& file = stored.spec.file;
    if (!std::filesystem::exists(sweeps::sweep_file(file)))
        throw Error(ErrorKind::missing,
                    fmt::format("the file of sweep {} is not there: {}", results_db::full_name(sweep),
                                reporting::visible(file)),
                    std::filesystem::path(file).is_relative() ? "go to the folder that it was run from, or put it back"
                                                              : "put it back",
                    "the results");
    const sweeps::Spec spec = stored.spec.load();
    if (auto same = sweeps::spec_of_results(spec, sweep)) return std::move(*same);
    // Merged results of several seeds keep the hash of their first run, which often had the file's own seeds. No record
    // has the seeds of any other first run, so the trials decide.
    if (!stored.spec.seeds.empty()) {
        SpecArguments first = stored.spec;
        first.seeds.clear();
        if (sweeps::spec_of_results(first.load(), sweep)) return spec;
        if (auto same = sweeps::spec_of_trials(spec, sweep)) return std::move(*same);
    }
    throw Error(ErrorKind::missing,
                fmt::format("{} has changed since sweep {} was run (it is {} now): {}", reporting::visible(file),
                            results_db::full_name(sweep), short_hash(spec.sha256),
                            first_difference(sweep.spec_toml, spec.text)),
                "run the file itself, which makes a table of its own, or change it back", "the results");
}

}  // namespace deft::cli
