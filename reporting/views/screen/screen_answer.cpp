#include "reporting/views/screen/screen_answer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "base/text.h"
#include "reporting/analysis/cost/occupancy.h"
#include "reporting/analysis/results/regime.h"
#include "reporting/analysis/results/stale.h"
#include "reporting/analysis/results/sweep_text.h"
#include "reporting/analysis/scores/measured.h"
#include "reporting/analysis/scores/quantity_value.h"
#include "reporting/analysis/search/rate_search.h"
#include "reporting/analysis/statistics/contrast.h"
#include "reporting/analysis/tradeoff/tradeoff.h"
#include "reporting/analysis/tradeoff/tradeoff_sentences.h"
#include "reporting/numbers.h"
#include "results_db/trial_name.h"

namespace deft::reporting {

namespace {

constexpr std::size_t kNamed = 3;
constexpr std::size_t kLineOfNames = 70;  // columns

std::size_t fewest_seeds(const ScreenRows& rows) {
    std::size_t fewest = SIZE_MAX;
    for (const ScreenRow& row : rows.rows)
        if (row.quality) fewest = std::min(fewest, row.seeds);
    return fewest == SIZE_MAX ? 0 : fewest;
}

// Whether some recipe has the seeds that a test needs.
bool has_verdict(const ScreenRows& rows) {
    return std::any_of(rows.rows.begin(), rows.rows.end(),
                       [](const ScreenRow& row) { return row.verdict != RowVerdict::none; });
}

// Whether no recipe with a difference counts as measured.
bool is_unmeasured(const ScreenRows& rows) {
    return std::none_of(rows.rows.begin(), rows.rows.end(), [](const ScreenRow& row) {
        return row.difference && row.is_measured && row.verdict != RowVerdict::not_measured;
    });
}

std::string named(const ScreenRow& row) {
    return row.measured->axes.has_budget ? row.label + " at " + row.measured->axes.budget_text() : row.label;
}

// Recipes of that verdict at their largest budgets, with their differences: "CL (-0.095), random-LTD (-0.145)".
std::string listed(const ScreenRows& rows, RowVerdict verdict) {
    std::vector<std::string> names;
    for (const ScreenRow& row : rows.rows)
        if (row.is_full && row.verdict == verdict && row.difference)
            names.push_back(
                fmt::format("{} ({:+.3f})", row.has_equal_tokens ? row.label : named(row), row.difference->value));
    return first_of(names, kNamed);
}

// How long the sweep's trials keep a worker busy, on average; 0 where nothing has ended.
double seconds_per_trial(const Results& sweep) {
    double sum = 0;
    std::size_t ended = 0;
    for (const Trial& trial : sweep.trials)
        if (trial.state == "ok" && trial.parts.whole() > 0) {
            sum += trial.parts.whole();
            ++ended;
        }
    return ended == 0 ? 0 : sum / static_cast<double>(ended);
}

ScreenEntry too_few_seeds(const ReportData& data, const ScreenRows& rows, const ScreenPlaces& places,
                          std::size_t workers) {
    ScreenEntry entry{"Answer", fmt::format("inconclusive: {} per recipe, a test needs {}.",
                                            counted(fewest_seeds(rows), "seed"), kFewestSeeds)};
    std::size_t trials = 0;
    for (const ScreenRow& row : rows.rows)
        trials += kFewestSeeds - std::min(kFewestSeeds, unit_count(row.measured->trials));
    if (trials == 0 || data.about.points.empty()) return entry;
    const double seconds = seconds_per_trial(data.sweep) * static_cast<double>(trials) /
                           static_cast<double>(std::max<std::size_t>(1, workers));
    entry.text += fmt::format(" Add {}{}:", counted(trials, "trial"),
                              seconds > 0 ? " (about " + rough_seconds(seconds) + ")" : "");
    entry.command = fmt::format("deft run {} --seeds {}{}", data.about.points, kFewestSeeds, places.options);
    return entry;
}

bool has_difference(const ScreenRows& rows) {
    return std::any_of(rows.rows.begin(), rows.rows.end(),
                       [](const ScreenRow& row) { return row.difference.has_value(); });
}

std::string answer(const ScreenRows& rows) {
    if (!rows.measure) return "none: no row has a score of quality yet.";
    if (!has_difference(rows)) return "none: no recipe has a score beside the baseline's yet.";
    if (is_unmeasured(rows))
        return "none: no row is above the validity thresholds. Train longer; deft report --full has the reasons.";
    std::vector<std::string> parts;
    for (const auto& [verdict, words] :
         {std::pair{RowVerdict::better, "better than the baseline: "}, std::pair{RowVerdict::worse, "worse: "},
          std::pair{RowVerdict::inconclusive, "inconclusive: "}, std::pair{RowVerdict::none, "too few seeds: "},
          std::pair{RowVerdict::not_measured, "not measured: "}})
        if (const std::string names = listed(rows, verdict); !names.empty()) parts.push_back(words + names);
    if (parts.empty()) return "none: no recipe at the largest budget has a baseline to compare with.";
    const bool are_equal = std::all_of(rows.rows.begin(), rows.rows.end(), [](const ScreenRow& row) {
        return !row.is_full || !row.difference || row.has_equal_tokens;
    });
    return fmt::format("{}{}.", are_equal ? "at equal tokens, " : "", fmt::join(parts, "; "));
}

// The largest gain at the largest budget, whatever its seeds; empty where no recipe has a measured difference there.
std::string leader(const ScreenRows& rows) {
    const ScreenRow* best = nullptr;
    bool has_rival = false;
    for (const ScreenRow& row : rows.rows) {
        if (!row.is_full || !row.has_equal_tokens || !row.difference || !row.is_measured) continue;
        has_rival = true;
        if (rows.gain_of(row) > 0 && (best == nullptr || rows.gain_of(row) > rows.gain_of(*best))) best = &row;
    }
    if (!has_rival) return {};
    const char* superlative = rows.measure->improves == Improves::downwards ? "lowest" : "highest";
    if (best == nullptr) return fmt::format("{} {} at equal tokens: the baseline.", superlative, rows.measure->title);
    return fmt::format("{} {} at equal tokens: {}.", superlative, rows.measure->title, best->label);
}

// Whether fewer tokens reach the baseline on all of them.
std::string on_fewer_tokens(const ScreenRows& rows) {
    const ScreenRow* baseline = nullptr;
    for (const ScreenRow& row : rows.rows)
        if (row.is_baseline && row.is_full && row.quality && row.is_measured) baseline = &row;
    if (baseline == nullptr) return {};
    const bool down = rows.measure->improves == Improves::downwards;
    const ScreenRow* cheapest = nullptr;
    bool has_fewer = false;
    for (const ScreenRow& row : rows.rows) {
        if (row.measured->axes.budget_fraction >= baseline->measured->axes.budget_fraction || row.is_baseline ||
            !row.quality || !row.is_measured)
            continue;
        has_fewer = true;
        const bool reaches = down ? *row.quality <= *baseline->quality : *row.quality >= *baseline->quality;
        if (reaches &&
            (cheapest == nullptr || row.measured->axes.budget_fraction < cheapest->measured->axes.budget_fraction))
            cheapest = &row;
    }
    if (!has_fewer) return {};
    if (cheapest == nullptr) return " On fewer tokens no recipe reaches the baseline on all of them.";
    return fmt::format(" {} reaches the baseline on all tokens, by its mean.", named(*cheapest));
}

std::string without_indent(const std::string& text) {
    return text.starts_with(' ') ? text.substr(1) : text;
}

// Which share of the baseline's gain the cheapest row is shown to keep.
std::string saving(const std::optional<Tradeoff>& tradeoff) {
    if (!tradeoff || tradeoff->nothing.empty()) return {};
    const TradeoffPoint* cheapest = nullptr;
    for (const TradeoffLine& line : tradeoff->lines)
        if (const TradeoffPoint* point = line.is_baseline ? nullptr : cheapest_shown(line))
            if (point->budget < tradeoff->reference.budget && (cheapest == nullptr || point->budget < cheapest->budget))
                cheapest = point;
    if (cheapest == nullptr)
        return fmt::format("no recipe on fewer tokens is shown to keep {:.0f}% of the baseline's gain over {}.",
                           100 * kKeptQuality, tradeoff->nothing);
    return fmt::format("{} keeps {} of the baseline's gain over {}, at {}.", cheapest->name, share_text(*cheapest),
                       tradeoff->nothing, paid_text(*tradeoff, *cheapest));
}

std::string paper(const ReportData& data) {
    const std::vector<ClaimFinding> findings = claims_of(data);
    if (findings.empty()) return {};
    std::size_t supported = 0, refuted = 0, inconclusive = 0, open = 0;
    for (const ClaimFinding& finding : findings) {
        const Outcome outcome = finding.judged.finding.outcome;
        ++(outcome == Outcome::holds     ? supported
           : outcome == Outcome::fails   ? refuted
           : outcome == Outcome::unclear ? inconclusive
                                         : open);
    }
    return fmt::format("{}: {} supported, {} refuted, {} inconclusive, {} not evaluated",
                       counted(findings.size(), "claim"), supported, refuted, inconclusive, open);
}

// A sentence as a part of a list.
std::string as_part(std::string sentence) {
    sentence.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(sentence.front())));
    if (sentence.back() == '.') sentence.pop_back();
    return sentence;
}

std::string caution(const ReportData& data, const ScreenRows& rows, const Results& stage, const SweepAbout& about) {
    std::vector<std::string> parts;
    if (!rows.measured.empty()) {
        const Row& row = reference_of(rows.measured, rows.base_recipe, rows.measured.front());
        const std::optional<Regime> own = regime_of(row);
        const double parameters = static_cast<double>(largest_parameters(stage));
        if (is_small_scale(stage, about.scale)) {
            std::string text = "toy scale";
            const bool has_larger = own && own->parameters > 0 && parameters > own->parameters;
            if (parameters > 0) text += fmt::format(": {}{} parameters", has_larger ? "up to " : "", si(parameters));
            if (own && own->parameters > 0)
                text += fmt::format(", {}{} tokens per parameter", has_larger ? row.recipe + " at " : "",
                                    si(own->tokens / own->parameters));
            if (own && own->parameters > 0 && about.published && about.published->regime &&
                about.published->regime->parameters > 0)
                text += fmt::format(" (paper: {})",
                                    si(about.published->regime->tokens / about.published->regime->parameters));
            parts.push_back(text);
        }
    }
    std::size_t flagged = 0, diverged = 0, stale = 0;
    for (const Row& row : rows.measured) {
        flagged += not_measured(row).empty() ? 0 : 1;
        stale += (rows.measure ? stale_value(rows.measure->quantity, row) : stale_training(row)).empty() ? 0 : 1;
        diverged += diverged_trials(row);
    }
    if (flagged > 0)
        parts.push_back(counted(flagged, "row") + (flagged == 1 ? " is" : " are") +
                        " below the validity thresholds (in parentheses)");
    if (diverged > 0) parts.push_back(counted(diverged, "trial") + " diverged");
    if (stale > 0) parts.push_back(counted(stale, "row") + (stale == 1 ? " is" : " are") + " stale");
    if (const std::string note = rate_at_end_note(data.sweep, {}); !note.empty()) parts.push_back(as_part(note));
    return fmt::format("{}", fmt::join(parts, "; "));
}

// The first names, as many as a line has room for.
std::string first_in_a_line(const std::vector<std::string>& names) {
    std::size_t most = kNamed;
    while (most > 1 && first_of(names, most).size() > kLineOfNames) --most;
    return first_of(names, most);
}

// Failed and missing trials, with the command that goes on; without text where there are none.
ScreenEntry unfinished(const ReportData& data) {
    std::vector<std::string> failed;
    std::size_t left = 0, diverged = 0;
    for (const Trial& trial : data.sweep.trials) {
        if (trial.state == "ok") continue;
        diverged += trial.fail_class == "nan" ? 1 : 0;
        if (trial.state == "failed" || !trial.fail_class.empty())
            failed.push_back(results_db::trial_name(trial) + (trial.fail_class.empty() ? ""
                                                              : trial.fail_class == "user"
                                                                  ? " (stopped)"
                                                                  : " (" + trial.fail_class + ")"));
        else
            ++left;
    }
    std::vector<std::string> parts;
    if (!failed.empty()) parts.push_back(first_in_a_line(failed) + " failed");
    if (left > 0) parts.push_back(counted(left, "trial") + (left == 1 ? " has" : " have") + " not run");
    if (parts.empty()) return {};
    const bool can_continue = diverged < failed.size() + left;  // the same configuration would diverge again
    const std::string& command = data.about.command;
    std::string next = can_continue ? "To run the rest" : "Lower train.learning_rate, then run again";
    if (command.empty())
        next = can_continue ? "Run the sweep's file again." : "Lower train.learning_rate and run it again.";
    return {"Missing", fmt::format("{}. {}{}", fmt::join(parts, "; "), next, command.empty() ? "" : ":"), command};
}

}  // namespace

std::vector<ScreenEntry> screen_entries(const ReportData& data, const ScreenRows& rows, const Results& stage,
                                        const SweepAbout& about, const ScreenPlaces& places) {
    std::vector<std::pair<std::int64_t, std::int64_t>> intervals;
    for (const Trial& trial : data.sweep.trials) intervals.emplace_back(trial.started_ms, trial.ended_ms);
    std::vector<ScreenEntry> entries;
    const auto add = [&](const char* label, std::string text) {
        if (!text.empty()) entries.push_back({label, std::move(text)});
    };
    if (rows.measure && has_difference(rows) && !is_unmeasured(rows) && !has_verdict(rows))
        entries.push_back(too_few_seeds(data, rows, places, occupancy(intervals).most_at_once));
    else
        add("Answer", answer(rows));
    if (rows.measure) {
        if (!has_verdict(rows))
            add("So far", without_indent(leader(rows) + on_fewer_tokens(rows)));
        else
            add("Saving", saving(tradeoff_of(stage, about)));
    }
    if (ScreenEntry missing = unfinished(data); !missing.text.empty()) entries.push_back(std::move(missing));
    add("Paper", paper(data));
    add("Caution", caution(data, rows, stage, about));
    return entries;
}

}  // namespace deft::reporting
