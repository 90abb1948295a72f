#include "reporting/analysis/comparison/cost_columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

#include "base/text.h"
#include "reporting/analysis/results/imported.h"
#include "reporting/numbers.h"

namespace deft::reporting {

namespace {

using results_db::CostParts;

struct Part {
    const char* key;  // in JSON
    const char* name;
    double CostParts::*member;
    const char* meaning;
};

constexpr std::array<Part, 5> kParts = {
    Part{
        "training", "training", &CostParts::training,
        "optimizer steps with their data and, on several ranks, their communication, as far as the result was built on "
        "them"},
    Part{"scoring", "evaluation", &CostParts::scoring, "tasks, and validations during training"},
    Part{"start-up", "start-up", &CostParts::start_up,
         "what else a worker was held for: starting processes, reading data, building the model, checkpoints, ending"},
    Part{"waiting", "waiting", &CostParts::waiting,
         "for a lock that another process held while it prepared data, or before the first step for other ranks"},
    Part{"lost", "lost", &CostParts::lost,
         "what attempts that died or were stopped had computed after their last checkpoint, and all of those of which "
         "nothing was kept"},
};

enum class Money { device_seconds, usd };

std::optional<CostParts> parts_of(const Trial& trial, Money money) {
    if (money == Money::usd) return trial.usd_parts;
    if (trial.parts.whole() > 0) return trial.parts;
    return std::nullopt;
}

// Means over independent repeats; nothing where one of the trials has none.
std::optional<CostParts> mean_parts(const Row& row, Money money) {
    CostParts all;
    for (const Part& part : kParts) {
        std::vector<std::pair<const Trial*, double>> values;
        for (const Trial* trial : row.ok) {
            const auto of_trial = parts_of(*trial, money);
            if (!of_trial) return std::nullopt;
            values.emplace_back(trial, (*of_trial).*part.member);
        }
        if (values.empty()) return std::nullopt;
        all.*part.member = mean(unit_means(values));
    }
    return all;
}

// Each rounded down, and the last places given to those that lost most by it.
PartTexts rounded(const CostParts& parts, int places, const char* sign) {
    const double unit = std::pow(10.0, places);
    const auto whole = static_cast<std::int64_t>(std::llround(parts.whole() * unit));
    std::array<std::int64_t, kParts.size()> units{};
    std::array<std::size_t, kParts.size()> by_rest{};
    std::int64_t left = whole;
    const auto rest = [&](std::size_t i) { return parts.*kParts[i].member * unit - static_cast<double>(units[i]); };
    for (std::size_t i = 0; i < kParts.size(); ++i) {
        units[i] = static_cast<std::int64_t>(std::floor(parts.*kParts[i].member * unit));
        left -= units[i];
        by_rest[i] = i;
    }
    std::stable_sort(by_rest.begin(), by_rest.end(), [&](std::size_t a, std::size_t b) { return rest(a) > rest(b); });
    for (std::size_t i = 0; i < kParts.size() && left > 0; ++i, --left) ++units[by_rest[i]];
    PartTexts texts;
    const auto text = [&](std::int64_t value) {
        return value == 0 ? "0" : fmt::format("{}{:.{}f}", sign, static_cast<double>(value) / unit, places);
    };
    for (std::size_t i = 0; i < kParts.size(); ++i) texts.parts[i] = text(units[i]);
    texts.whole = text(whole);
    return texts;
}

PartTexts texts_of(const CostParts& parts, Money money) {
    return money == Money::usd ? usd_texts(parts) : device_second_texts(parts);
}

double value_of(const CostParts& parts, const Part* part) {
    return part == nullptr ? parts.whole() : parts.*part->member;
}

template <Money money, std::size_t part>
std::optional<double> of_trial(const Trial& trial) {
    if (part == 0 && trial.imported) return std::nullopt;
    const auto parts = parts_of(trial, money);
    if (!parts) return std::nullopt;
    return value_of(*parts, part < kParts.size() ? &kParts[part] : nullptr);
}

template <Money money>
void add_columns(std::vector<CostColumn>& columns) {
    const char* unit = money == Money::usd ? "USD" : "device-s";
    const auto title = [&](const char* name) { return std::string(name) + "\n" + unit; };
    columns.push_back({title(kParts[0].name), unit, of_trial<money, 0>});
    columns.push_back({title(kParts[1].name), unit, of_trial<money, 1>});
    columns.push_back({title(kParts[2].name), unit, of_trial<money, 2>});
    columns.push_back({title(kParts[3].name), unit, of_trial<money, 3>});
    columns.push_back({title(kParts[4].name), unit, of_trial<money, 4>});
    columns.push_back({title("total"), unit, of_trial<money, 5>});
}

template <class Count>
std::int64_t sum_over(const std::vector<Row>& rows, const Count& count) {
    std::int64_t sum = 0;
    std::set<std::string> seen;  // several places may share a training
    for (const Row& row : rows)
        for (const Trial* trial : row.ok)
            if (seen.insert(trial->config_hash).second) sum += count(*trial);
    return sum;
}

bool is_anything(const std::vector<Row>& rows, const Part& part) {
    return sum_over(rows, [&](const Trial& trial) { return trial.parts.*part.member > 0 ? 1 : 0; }) > 0;
}

Cell part_cell(const Row& row, Money money, std::size_t index) {
    if (index == 0 && is_imported(row)) return "-";
    const std::optional<CostParts> parts = mean_parts(row, money);
    if (!parts) return "-";
    const PartTexts texts = texts_of(*parts, money);
    const bool is_whole = index == kParts.size();
    return {is_whole ? texts.whole : texts.parts[index], value_of(*parts, is_whole ? nullptr : &kParts[index])};
}

}  // namespace

PartTexts device_second_texts(const CostParts& parts) {
    const double whole = parts.whole();
    return rounded(parts, whole < 9.995 ? 2 : whole < 9999.5 ? 1 : 0, "");
}

PartTexts usd_texts(const CostParts& parts) {
    const double whole = parts.whole();
    const int places = whole > 0 ? std::clamp(2 - static_cast<int>(std::floor(std::log10(whole))), 2, 12) : 2;
    return rounded(parts, places, "$");
}

CostParts attempt_parts(const results_db::AttemptRow& attempt) {
    CostParts parts;
    if (attempt.seconds) parts.add(*attempt.seconds, attempt.devices());
    return parts;
}

OrderedJson parts_json(const CostParts& parts) {
    OrderedJson json;
    for (const Part& part : kParts) json[part.key] = json_number(parts.*part.member);
    json["whole"] = json_number(parts.whole());
    return json;
}

std::string parts_text(const CostParts& device_seconds) {
    const PartTexts texts = device_second_texts(device_seconds);
    std::vector<std::string> words;
    for (std::size_t i = 0; i < kParts.size(); ++i)
        if (texts.parts[i] != "0") words.push_back(fmt::format("{} {}", kParts[i].name, texts.parts[i]));
    return fmt::format("{}{}{} device-s", fmt::join(words, ", "), words.empty() ? "" : ": ", texts.whole);
}

const std::vector<CostColumn>& cost_columns() {
    static const std::vector<CostColumn> all = [] {
        std::vector<CostColumn> columns;
        add_columns<Money::device_seconds>(columns);
        add_columns<Money::usd>(columns);
        return columns;
    }();
    return all;
}

std::vector<Field> cost_fields(const std::vector<Row>& rows) {
    std::vector<Field> fields;
    if (sum_over(rows, [](const Trial& trial) { return trial.parts.whole() > 0 ? 1 : 0; }) == 0) return fields;
    const bool is_priced = sum_over(rows, [](const Trial& trial) { return trial.usd_parts.has_value() ? 1 : 0; }) > 0;
    for (std::size_t i = 0; i < cost_columns().size(); ++i) {
        const CostColumn& shown = cost_columns()[i];
        const std::size_t index = i % (kParts.size() + 1);
        const Money money = i <= kParts.size() ? Money::device_seconds : Money::usd;
        if (money == Money::usd && !is_priced) continue;
        if (index < kParts.size() && !is_anything(rows, kParts[index])) continue;
        Column column;
        column.title = shown.title;
        column.id = std::string(money == Money::usd ? "usd/" : "device_seconds/") +
                    (index < kParts.size() ? kParts[index].key : "whole");
        column.is_cost = true;
        column.begins_block = fields.empty();
        fields.emplace_back(std::move(column), [money, index](const Row& one) { return part_cell(one, money, index); });
    }
    return fields;
}

std::vector<std::string> cost_notes(const std::vector<Row>& rows) {
    if (cost_fields(rows).empty()) return {};
    std::string text =
        "Cost breakdown (all attempts): the seconds that each held its worker times its threads, "
        "or share of a GPU, and its price.";
    std::vector<std::string> nothing;
    for (const Part& part : kParts) {
        if (is_anything(rows, part))
            text += fmt::format(" {}: {}.", part.name, part.meaning);
        else
            nothing.emplace_back(part.name);
    }
    text += " total: their sum. The column cost, beside the tokens, is that of training alone.";
    const std::int64_t waits = sum_over(rows, [](const Trial& trial) { return trial.unmeasured_waits; });
    if (!nothing.empty())
        text += fmt::format(" No column: {}, of which there was none{}.", fmt::join(nothing, ", "),
                            waits > 0 ? " that was measured" : "");
    std::vector<std::string> notes = {std::move(text)};
    if (waits > 0)
        notes.push_back(
            fmt::format("Waiting was not measured in {}: what they waited is in start-up, or lost with them.",
                        counted(static_cast<std::size_t>(waits), "attempt")));
    if (const auto unseen = sum_over(rows, [](const Trial& trial) { return trial.unseen_ends; }); unseen > 0)
        notes.push_back(
            fmt::format("The end of {} was not recorded: the cost omits start-up and the work after the last line of "
                        "the journal.",
                        counted(static_cast<std::size_t>(unseen), "attempt")));
    return notes;
}

}  // namespace deft::reporting
