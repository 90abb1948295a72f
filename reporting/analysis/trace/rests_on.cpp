#include "reporting/analysis/trace/rests_on.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "base/json.h"
#include "base/text.h"

namespace deft::reporting {

namespace {

using results_db::AttemptRow;

std::string stated(const std::string& text) {
    return text.empty() ? "unknown" : text;
}

std::string all_of(const std::set<std::string>& texts) {
    return fmt::format("{}", fmt::join(texts, "; "));
}

std::string instructions(const results_db::Host& host) {
    const Json extra = try_parse_json(host.extra_json);
    if (!extra.is_object() || !extra.contains("isa") || !extra.at("isa").is_array()) return {};
    std::string text;
    for (const Json& one : extra.at("isa"))
        if (one.is_string()) text += (text.empty() ? " with " : ", ") + one.get<std::string>();
    return text;
}

// The code, machines and data of a row's values, each spelling once.
struct Rests {
    std::set<std::string> changes, programs, processors, devices, data, scoring;
    std::set<std::int64_t> ranks;

    void add(const TracedTrial& one) {
        const results_db::Code& code = one.trial.code;
        if (code.dirty)
            changes.insert(fmt::format("commit {} with changes that were not committed (diff sha256 {})",
                                       stated(short_hash(code.git_sha)), stated(code.diff_sha256)));
        programs.insert(fmt::format("sha256 {}, by {}, {}", stated(short_hash(code.binary_sha256)),
                                    stated(code.compiler), stated(code.build_type)));
        processors.insert(stated(one.trial.host.cpu_model) + instructions(one.trial.host));
        data.insert(one.trial.dataset_name.empty()
                        ? "unknown"
                        : fmt::format("{} (sha256 {})", one.trial.dataset_name, stated(one.trial.dataset_sha256)));
        for (const AttemptRow& attempt : one.trial.attempt_rows) {
            if (!attempt.counts) continue;
            devices.insert(attempt.shape.device);
            ranks.insert(attempt.shape.ranks);
        }
        for (const TracedScore& score : one.scores)
            if (!score.row.git_sha.empty() && score.row.git_sha != code.git_sha)
                scoring.insert(short_hash(score.row.git_sha));
    }
};

}  // namespace

std::vector<std::string> rests_on(const std::vector<TracedTrial>& trials, const TracedColumn& column, bool can_repeat) {
    Rests rests;
    bool any = false;
    for (const TracedTrial& one : trials) {
        if (!one.value) continue;
        any = true;
        rests.add(one);
    }
    if (!any) return {};
    std::vector<std::string> texts;
    if (column.is_clocked)
        texts.push_back(
            "This column is read off a clock: a repetition takes about as long, and never exactly. Its losses and"
            " scores are what comes out the same.");
    else
        texts.push_back(
            "The same bits are promised for the same program on the same kind of processor; elsewhere a number"
            " differs by rounding, which training may amplify.");
    texts.push_back(fmt::format("Program: {}.", all_of(rests.programs)));
    if (!rests.changes.empty())
        texts.push_back(
            fmt::format("Built from {}: a checkout of the commit alone is another program.", all_of(rests.changes)));
    texts.push_back(fmt::format("Processor: {}.", all_of(rests.processors)));
    if (rests.devices.contains("cuda"))
        texts.push_back("Trained on a GPU: the same kind of GPU and its libraries count too.");
    if (rests.ranks.size() > 1)
        texts.push_back(
            fmt::format("Trained on {} ranks, one after the other: no one run has those sums in that order.",
                        fmt::join(rests.ranks, ", ")));
    else if (rests.ranks.size() == 1 && *rests.ranks.begin() > 1)
        texts.push_back(
            fmt::format("Trained on {} ranks: other numbers of ranks round otherwise.", *rests.ranks.begin()));
    texts.push_back(fmt::format("Data: {}. The hash is part of the configuration's.", all_of(rests.data)));
    if (!rests.scoring.empty())
        texts.push_back(fmt::format("Scored by another commit than it was trained by: {}.", all_of(rests.scoring)));
    texts.push_back(can_repeat ? "A repetition is the same training if its configuration hash is the same, so leave the"
                                 " sweep's file as it was. Use a new root: deft trains no finished trial again."
                               : "No command repeats it: the results do not say which file the sweep was.");
    return texts;
}

}  // namespace deft::reporting
