#include "reporting/analysis/tradeoff/tradeoff_sentences.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

// "12.5", "50".
std::string times(double value) {
    const std::string text = fmt::format("{:.1f}", value);
    return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
}

const TradeoffLine* baseline_of(const Tradeoff& tradeoff) {
    for (const TradeoffLine& line : tradeoff.lines)
        if (line.is_baseline) return &line;
    return nullptr;
}

bool has_interval(const TradeoffPoint& point) {
    return point.counts() && point.relative && point.relative->interval;
}

// "-0.021 [-0.032, -0.010] at 8%".
std::string difference_text(const TradeoffPoint& point) {
    const auto with_sign = [](double value) { return (value < 0 ? "-" : "+") + score(std::abs(value)); };
    std::string text = with_sign(point.difference->value);
    if (const auto& interval = point.difference->interval)
        text += fmt::format(" [{}, {}]", with_sign(interval->low), with_sign(interval->high));
    return fmt::format("{} at {:g}%", text, 100 * point.budget);
}

// The differences of all rows of a line that have one, to the baseline at the same budget.
std::string differences_text(const Tradeoff& tradeoff, const TradeoffLine& line) {
    std::vector<std::string> texts;
    bool any_without = false;
    for (const TradeoffPoint& point : line.points) {
        if (!point.counts() || !point.difference) continue;
        any_without = any_without || !point.difference->interval;
        texts.push_back(difference_text(point));
    }
    if (texts.empty()) return fmt::format("{}: no row of the baseline at the same budget can be compared.", line.name);
    return fmt::format("{}, {} above the baseline at the same budget ({} is better{}): {}.", line.name, tradeoff.title,
                       tradeoff.scale.improves == Improves::downwards ? "less" : "more",
                       any_without ? "; no interval below three seeds" : "; 95% intervals", fmt::join(texts, ", "));
}

// "CL at 8% keeps X of the baseline's gain over a unigram model at Y; the baseline alone keeps Z there".
std::string kept_text(const Tradeoff& tradeoff, const TradeoffPoint& point) {
    std::string text = fmt::format("{} keeps {} of the baseline's gain over {} at {}", point.name, share_text(point),
                                   tradeoff.nothing, paid_text(tradeoff, point));
    const TradeoffLine* baseline = baseline_of(tradeoff);
    const TradeoffPoint* alone = baseline == nullptr ? nullptr : baseline->at_budget(point.budget);
    if (alone != nullptr && !alone->counts()) alone = nullptr;
    const bool is_reference = alone != nullptr && alone->name == tradeoff.reference.name;
    if (alone == nullptr || !alone->relative)
        text += "; no row of the baseline there can be compared";
    else if (is_reference)
        text += "; the baseline there is what 100% is";
    else
        text += fmt::format("; the baseline alone keeps {} there", share_text(*alone));
    const bool lacks = !has_interval(point) || (alone != nullptr && !is_reference && !has_interval(*alone));
    return lacks ? text + " (no interval below three seeds)" : text;
}

// "its 5 rows", "the 5 of its 8 rows that can be compared".
std::string its_rows_text(const TradeoffLine& line) {
    if (line.counting() == line.rows) return "its " + counted(line.rows, "row");
    return fmt::format("the {} of its {} that can be compared", line.counting(), counted(line.rows, "row"));
}

// The cheapest row that counts as measured; null where none does.
const TradeoffPoint* cheapest_counting(const TradeoffLine& line) {
    for (const TradeoffPoint& point : line.points)
        if (point.counts()) return &point;
    return nullptr;
}

std::string shares_text(const Tradeoff& tradeoff, const TradeoffLine& line, const TradeoffPoint& cheapest) {
    if (const TradeoffPoint* shown = cheapest_shown(line))
        return fmt::format("{}: the cheapest of {} whose 95% interval begins at {:g}% or above.",
                           kept_text(tradeoff, *shown), its_rows_text(line), 100 * kKeptQuality);
    const auto bounded = std::count_if(line.points.begin(), line.points.end(), has_interval);
    std::string text = fmt::format("No row is shown to keep {:g}% of the baseline's gain: {} of {} {} an interval.",
                                   100 * kKeptQuality, bounded, its_rows_text(line), bounded == 1 ? "has" : "have");
    const TradeoffPoint* by_mean = cheapest_by_mean(line);
    if (by_mean != nullptr) text += " By its mean alone, " + kept_text(tradeoff, *by_mean) + ".";
    if (by_mean != &cheapest) text += " Its cheapest row: " + kept_text(tradeoff, cheapest) + ".";
    return text;
}

std::string line_sentence(const Tradeoff& tradeoff, const TradeoffLine& line) {
    const TradeoffPoint* cheapest = cheapest_counting(line);
    if (cheapest == nullptr) return fmt::format("{}: no row counts as measured.", line.name);
    const std::string text = differences_text(tradeoff, line) + " ";
    if (tradeoff.nothing.empty())
        return text + fmt::format("{} takes {}.", cheapest->name, paid_text(tradeoff, *cheapest));
    return text + shares_text(tradeoff, line, *cheapest);
}

}  // namespace

const TradeoffPoint* cheapest_shown(const TradeoffLine& line) {
    for (const TradeoffPoint& point : line.points)
        if (has_interval(point) && point.relative->interval->low >= kKeptQuality) return &point;
    return nullptr;
}

const TradeoffPoint* cheapest_by_mean(const TradeoffLine& line) {
    for (const TradeoffPoint& point : line.points)
        if (point.counts() && point.relative && point.relative->share >= kKeptQuality) return &point;
    return nullptr;
}

std::string share_text(const TradeoffPoint& point) {
    if (!point.relative) return "-";
    const std::string share = percent(point.relative->share);
    if (!point.relative->interval) return share;
    return fmt::format("{} [{}, {}]", share, percent(point.relative->interval->low),
                       percent(point.relative->interval->high));
}

std::string paid_text(const Tradeoff& tradeoff, const TradeoffPoint& point) {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < kCostAxes.size(); ++i)
        if (const auto share = cost_share(tradeoff, point, i))
            parts.push_back(*share < 0.9 ? fmt::format("1/{} of its {}", times(1 / *share), kCostAxes[i].noun)
                                         : fmt::format("{:.2f} times its {}", *share, kCostAxes[i].noun));
    if (parts.empty()) return "an unknown cost";
    const std::string last = parts.back();
    parts.pop_back();
    return parts.empty() ? last : fmt::format("{} and {}", fmt::join(parts, ", "), last);
}

std::vector<std::string> tradeoff_sentences(const Tradeoff& tradeoff) {
    std::vector<std::string> sentences;
    for (const TradeoffLine& line : tradeoff.lines)
        if (!line.is_baseline) sentences.push_back(line_sentence(tradeoff, line));
    if (!tradeoff.definition.empty()) sentences.push_back(tradeoff.definition);
    if (const auto& published = tradeoff.published)
        sentences.push_back(fmt::format(
            "Published ({}; {}): {} keeps {:g}% of the baseline's quality at 1/{:g} of its data, time and cost, by the "
            "paper's own measure of quality.",
            published->source, published->scale, published->row, 100 * published->share, published->saving));
    return sentences;
}

}  // namespace deft::reporting
