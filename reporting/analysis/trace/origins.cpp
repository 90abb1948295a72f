#include "reporting/analysis/trace/origins.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "base/error.h"
#include "base/json.h"
#include "reporting/analysis/results/imported.h"
#include "reporting/analysis/scores/measured.h"

namespace deft::reporting {

namespace {

using results_db::Checkpoint;

std::string or_unknown(const std::string& text) {
    return text.empty() ? "unknown" : text;
}

std::string full_commit(const Trial& trial) {
    if (!trial.code.dirty) return or_unknown(trial.code.git_sha);
    return fmt::format("{} + uncommitted changes (diff sha256 {})", or_unknown(trial.code.git_sha),
                       or_unknown(trial.code.diff_sha256));
}

std::string full_host(const Trial& trial) {
    if (trial.host.hostname.empty() && trial.host.cpu_model.empty()) return "unknown";
    return fmt::format("{}: {}, {} cores", or_unknown(trial.host.hostname), or_unknown(trial.host.cpu_model),
                       trial.host.cores);
}

// The path below the run folder, which has a column of its own.
std::string_view below_run_folder(std::string_view path, const std::string& folder) {
    const bool is_below = !folder.empty() && path.starts_with(folder) && path.substr(folder.size()).starts_with('/');
    return is_below ? path.substr(folder.size() + 1) : path;
}

// The newest of the trial; checkpoints are sorted by hash and step.
std::string checkpoint(const Trial& trial, const std::vector<Checkpoint>& checkpoints) {
    const auto before = [](const Checkpoint& a, const std::string& hash) { return a.config_hash < hash; };
    auto found = std::lower_bound(checkpoints.begin(), checkpoints.end(), trial.config_hash, before);
    std::string text = "none recorded";
    for (; found != checkpoints.end() && found->config_hash == trial.config_hash; ++found)
        text =
            fmt::format("{} (step {}, {})", found->sha256, found->step, below_run_folder(found->path, trial.workdir));
    return text;
}

}  // namespace

Table provenance_table(const Row& row, const std::vector<Checkpoint>& checkpoints) {
    Table table;
    table.caption = "Trials of " + row.name;
    for (const char* title : {"seed", "state", "attempts", "config hash", "commit", "host", "dataset sha256",
                              "checkpoint sha256", "run folder"})
        table.columns.push_back({title, Align::left});
    for (const Trial* trial : row.trials)
        table.rows.push_back(
            {Cell(trial->seeds.empty() ? fmt::format("{}", trial->seed) : trial->seeds), trial->state,
             fmt::format("{}", trial->attempts), trial->config_hash, full_commit(*trial), full_host(*trial),
             trial->dataset_sha256.empty() ? Cell("unknown") : Cell(trial->dataset_name + ": " + trial->dataset_sha256),
             checkpoint(*trial, checkpoints), trial->workdir.empty() ? "-" : trial->workdir});
    return table;
}

namespace {

std::string seed_list(const std::vector<const Trial*>& trials) {
    std::vector<std::string> seeds;  // a chain is repeated from its first trial on
    for (const Trial* trial : trials)
        if (const std::string seed = unit_seed(*trial); std::find(seeds.begin(), seeds.end(), seed) == seeds.end())
            seeds.push_back(seed);
    std::string text = fmt::format("{}", fmt::join(seeds, ","));
    if (seeds.size() == 1) text += ',';  // without it, a count
    return text;
}

std::string axes_options(const std::string& axes_json) {
    const Json axes = try_parse_json(axes_json);
    if (!axes.is_object()) return {};
    std::string text;
    for (const auto& [path, value] : axes.items())
        text += " --set " + shell_word(path + "=" + value.dump(-1, ' ', false, Json::error_handler_t::replace));
    return text;
}

}  // namespace

std::string shell_word(const std::string& word) {
    static constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

std::vector<std::string> shell_words(const std::string& line) {
    std::vector<std::string> words;
    bool in_word = false;
    for (std::size_t at = 0; at < line.size(); ++at) {
        if (line[at] == ' ') {
            in_word = false;
            continue;
        }
        if (!in_word) words.emplace_back();
        in_word = true;
        if (line[at] == '\'') {
            const std::size_t end = line.find('\'', at + 1);
            if (end == std::string::npos)
                throw Error(ErrorKind::database, fmt::format("a quote is not closed in the stored command {}", line),
                            "run the sweep's file again, which stores it again");
            words.back() += line.substr(at + 1, end - at - 1);
            at = end;
        } else {
            if (line[at] == '\\' && at + 1 < line.size()) ++at;
            words.back() += line[at];
        }
    }
    return words;
}

std::string repeat_command(const Row& row, const std::string& points, const std::string& options,
                           const std::string& root) {
    if (points.empty() || row.trials.empty()) return {};
    return fmt::format("./deft run {} --only {}{} --seeds {}{}{} --root {}", points, shell_word(row.recipe),
                       axes_options(row.trials.front()->axes_json), seed_list(row.trials), options.empty() ? "" : " ",
                       options, root);
}

std::vector<std::string> repeat_commands(const Row& row, const std::string& points) {
    // A root of its own: in the old one the trials are done already.
    const std::string run = repeat_command(row, points, "", "deft-repeat");
    if (run.empty()) return {};
    std::set<std::string> commits;
    for (const Trial* trial : row.ok)
        if (!trial->code.git_sha.empty() && trial->code.git_sha != "unknown") commits.insert(trial->code.git_sha);
    std::vector<std::string> lines;
    if (commits.size() == 1) lines.push_back("git checkout " + shell_word(*commits.begin()));
    lines.push_back(run);
    return lines;
}

}  // namespace deft::reporting
