#include "reporting/repeat.h"

#include <fmt/format.h>

#include <set>

#include "base/json.h"

namespace deft::reporting {

namespace {

std::string seed_list(const std::vector<const results_db::TrialRow*>& trials) {
    std::vector<std::int64_t> seeds;
    for (const results_db::TrialRow* trial : trials) seeds.push_back(trial->seed);
    std::string text = fmt::format("{}", fmt::join(seeds, ","));
    if (seeds.size() == 1) text += ',';  // without it, a count
    return text;
}

std::string axes_options(const std::string& axes_json) {
    const Json axes = Json::parse(axes_json, nullptr, false);
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

std::vector<std::string> repeat_commands(const Variant& variant, const std::string& points) {
    if (points.empty() || variant.trials.empty()) return {};
    std::set<std::string> commits;
    for (const results_db::TrialRow* trial : variant.ok)
        if (!trial->code.git_sha.empty() && trial->code.git_sha != "unknown") commits.insert(trial->code.git_sha);
    std::vector<std::string> lines;
    if (commits.size() == 1) lines.push_back("git checkout " + shell_word(*commits.begin()));
    // A root of its own: in the old one the trials are done already.
    lines.push_back(fmt::format("./deft run {} --only {}{} --seeds {} --root deft-repeat", points,
                                shell_word(variant.case_key), axes_options(variant.trials.front()->axes_json),
                                seed_list(variant.trials)));
    return lines;
}

}  // namespace deft::reporting
