#include "reporting/notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

using results_db::TrialRow;

constexpr std::size_t kVerdictSeeds = 3;

std::string joined(const std::set<std::string>& texts) {
    return fmt::format("{}", fmt::join(texts, "; "));
}

std::string commit(const TrialRow& trial) {
    return trial.code.git_sha.substr(0, 12) + (trial.code.dirty ? " + uncommitted changes" : "");
}

std::string host(const TrialRow& trial) {
    return fmt::format("{} ({} cores)", trial.host.cpu_model, trial.host.cores);
}

std::string dataset(const TrialRow& trial) {
    if (trial.dataset_name.empty() && trial.dataset_sha256.empty()) return "unknown";
    return fmt::format("{} (sha256 {})", trial.dataset_name,
                       trial.dataset_sha256.empty() ? "unknown" : trial.dataset_sha256.substr(0, 12));
}

std::string price(const TrialRow& trial) {
    if (!trial.usd) return "no price";
    return fmt::format("${:g} an hour of {}, price of {}, {}", trial.usd_per_hour, trial.price_sku,
                       date(trial.price_valid_from_ms), trial.price_source);
}

std::string seeds_note(const std::vector<Variant>& variants) {
    std::size_t least = variants.front().ok.size(), most = least;
    for (const Variant& variant : variants) {
        least = std::min(least, variant.ok.size());
        most = std::max(most, variant.ok.size());
    }
    std::string text =
        least == most ? fmt::format("Seeds: {} a row.", least) : fmt::format("Seeds: {} to {} a row.", least, most);
    if (least < kVerdictSeeds) text += " No verdict: a verdict needs three seeds.";
    return text;
}

std::string reference_note(const std::vector<Variant>& variants, const std::string& base_case) {
    const Variant& row = reference_of(variants, base_case, variants.front());
    const std::string budget = row.axes.has_budget ? " at " + row.axes.budget_text() + " of the budget" : "";
    std::string text = fmt::format(
        "Resources are means over finished seeds, in parentheses the ratio to case {}{}. ± is the sample standard "
        "deviation over seeds.",
        base_case, budget);
    if (row.ok.empty()) text += " That row has no finished seed yet, so there are no ratios.";
    return text;
}

std::string missing_note(const results_db::SweepResults& sweep) {
    std::string missing;
    for (const TrialRow& trial : sweep.trials) {
        if (trial.state == "ok") continue;
        const std::string why = trial.fail_class.empty() ? trial.state : trial.state + ", " + trial.fail_class;
        missing += fmt::format("{}{} seed {} ({})", missing.empty() ? "" : "; ", place_of(trial), trial.seed, why);
    }
    if (missing.empty()) return {};
    return fmt::format("Missing: {}. To fill them, run the file of sweep {} again.", missing, sweep.name);
}

}  // namespace

std::vector<std::string> comparison_notes(const results_db::SweepResults& sweep, const std::vector<Variant>& variants,
                                          const std::string& base_case) {
    if (variants.empty()) return {"The sweep has no trials."};
    std::set<std::string> commits, builds, hosts, machines, datasets, prices;
    for (const Variant& variant : variants)
        for (const TrialRow* trial : variant.ok) {
            commits.insert(commit(*trial));
            builds.insert(trial->code.git_sha + '|' + trial->code.diff_sha256 + '|' + trial->code.binary_sha256);
            hosts.insert(host(*trial));
            machines.insert(trial->host.hostname + '|' + host(*trial));
            datasets.insert(dataset(*trial));
            prices.insert(price(*trial));
        }
    std::vector<std::string> notes;
    notes.push_back(seeds_note(variants));
    notes.push_back(reference_note(variants, base_case));
    if (std::string text = missing_note(sweep); !text.empty()) notes.push_back(std::move(text));
    if (commits.empty()) return notes;
    notes.push_back(prices == std::set<std::string>{"no price"} ? "Cost: no price." : "Cost: " + joined(prices) + ".");
    notes.push_back("Code: commit " + joined(commits) + ". Host: " + joined(hosts) + ". Data: " + joined(datasets) +
                    ".");
    if (builds.size() > 1) notes.push_back(fmt::format("Warning: rows mix {} builds of the program.", builds.size()));
    if (machines.size() > 1)
        notes.push_back(fmt::format("Warning: rows mix {} hosts; their times do not compare.", machines.size()));
    if (datasets.size() > 1) notes.push_back(fmt::format("Warning: rows mix {} datasets.", datasets.size()));
    return notes;
}

}  // namespace deft::reporting
