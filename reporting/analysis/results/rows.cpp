#include "reporting/analysis/results/rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "results_db/trial_name.h"

namespace deft::reporting {

namespace {

constexpr const char* kBudget = "train.budget_fraction";

std::string name_of(const Trial& trial) {
    const std::string name = results_db::trial_name(trial);
    return name.substr(0, name.rfind('/'));
}

// The value of an axis at each budget of a stage.
struct AxisByBudget {
    std::map<double, std::string> values;
    bool is_decided = true;

    void add(double budget, const std::string& value) {
        is_decided = is_decided && values.emplace(budget, value).first->second == value;
    }
    bool follows() const {
        return is_decided && std::any_of(values.begin(), values.end(),
                                         [&](const auto& one) { return one.second != values.begin()->second; });
    }
};

void note_what_scales_with_budgets(std::vector<Row>& rows) {
    std::map<std::pair<std::string, std::string>, AxisByBudget> axes;  // by stage and key
    for (const Row& row : rows)
        for (const auto& [key, value] : row.axes.others) axes[{row.stage, key}].add(row.axes.budget_fraction, value);
    for (Row& row : rows)
        for (const auto& [key, value] : row.axes.others)
            if (axes.at({row.stage, key}).follows()) row.axes.follow_budget.insert(key);
}

}  // namespace

std::string unit_seed(const Trial& trial) {
    return trial.seeds.empty() ? std::to_string(trial.seed) : trial.seeds.substr(0, trial.seeds.find('.'));
}

std::size_t unit_count(const std::vector<const Trial*>& trials) {
    std::set<std::string> seeds;
    for (const Trial* trial : trials) seeds.insert(unit_seed(*trial));
    return seeds.size();
}

std::vector<double> unit_means(const std::vector<std::pair<const Trial*, double>>& values) {
    struct Unit {
        std::string seed;
        double sum = 0;
        int count = 0;
    };
    std::vector<Unit> units;  // in the order they came
    for (const auto& [trial, value] : values) {
        const std::string seed = unit_seed(*trial);
        auto unit = std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.seed == seed; });
        if (unit == units.end()) unit = units.insert(units.end(), {seed});
        unit->sum += value;
        ++unit->count;
    }
    std::vector<double> means;
    for (const Unit& unit : units) means.push_back(unit.sum / unit.count);
    return means;
}

std::vector<Row> rows_of(const Results& sweep) {
    std::vector<const Trial*> trials;
    for (const Trial& trial : sweep.trials) trials.push_back(&trial);
    std::stable_sort(trials.begin(), trials.end(),
                     [](const auto* a, const auto* b) { return a->ordinal < b->ordinal; });
    std::vector<Row> rows;
    std::map<std::tuple<std::string, std::string, std::string>, std::size_t> index;
    for (const Trial* trial : trials) {
        // Parsed and printed again, so that spaces and key order make no difference between rows.
        const Json axes = try_parse_json(trial->axes_json);
        const std::string text = axes.is_discarded() ? trial->axes_json : axes.dump();
        const auto [found, fresh] = index.try_emplace({trial->stage, trial->recipe, text}, rows.size());
        if (fresh) rows.push_back({trial->stage, trial->recipe, name_of(*trial), parse_axes(trial->axes_json), {}, {}});
        Row& row = rows[found->second];
        row.trials.push_back(trial);
        if (trial->state == "ok") row.ok.push_back(trial);
    }
    note_what_scales_with_budgets(rows);
    return rows;
}

std::vector<std::string> budget_axes_notes(const std::vector<Row>& rows) {
    std::map<std::pair<std::string, std::string>, std::map<double, std::string>> axes;  // by stage and key
    for (const Row& row : rows)
        for (const std::string& key : row.axes.follow_budget)
            axes[{row.stage, key}][row.axes.budget_fraction] =
                fmt::format("{} at {}", row.axes.others.at(key), row.axes.budget_text());
    std::vector<std::string> notes;
    for (const auto& [axis, values] : axes) {
        std::string text;
        for (const auto& [budget, value] : values) text += (text.empty() ? "" : ", ") + value;
        notes.push_back(fmt::format("{}{} goes with the budget: {}.", axis.first.empty() ? "" : axis.first + ": ",
                                    axis.second, text));
    }
    return notes;
}

std::string baseline_recipe(const std::vector<Row>& rows, const std::string& asked, const std::string& sweep) {
    if (rows.empty()) return asked;
    if (asked.empty()) {
        const auto trained =
            std::find_if(rows.begin(), rows.end(), [](const Row& row) { return !row.trials.front()->imported; });
        return trained == rows.end() ? rows.front().recipe : trained->recipe;
    }
    std::vector<std::string> known;
    for (const Row& row : rows) {
        if (row.recipe == asked) return asked;
        if (std::find(known.begin(), known.end(), row.recipe) == known.end()) known.push_back(row.recipe);
    }
    throw Error(ErrorKind::usage, fmt::format("sweep '{}' has no recipe '{}' to compare with", sweep, asked),
                fmt::format("choose one of: {}", fmt::join(known, ", ")));
}

namespace {

// Equal for rows of one stage that is_like() finds alike.
std::string key_of_others(const Axes& axes) {
    std::string key;
    for (const auto& [name, value] : axes.others)
        if (!axes.follow_budget.contains(name)) key += name + '\0' + value + '\0';
    return key;
}

}  // namespace

References::References(const std::vector<Row>& rows, const std::string& recipe) {
    for (const Row& row : rows) {
        if (row.recipe != recipe) continue;
        Stage& stage = stages_[row.stage];
        const double budget = row.axes.budget_fraction;
        if (stage.largest == nullptr || budget > stage.largest->axes.budget_fraction) {
            stage.largest = &row;
            stage.is_only = true;
        } else if (budget == stage.largest->axes.budget_fraction) {
            stage.is_only = false;
        }
        const Row*& like = stage.like[key_of_others(row.axes)];
        if (like == nullptr || budget > like->axes.budget_fraction) like = &row;
    }
}

const Row& References::of(const Row& row) const {
    const auto stage = stages_.find(row.stage);
    if (stage == stages_.end()) return row;
    const auto& [largest, is_only, likes] = stage->second;
    if (is_only && largest->axes.trains_like(row.axes)) return *largest;
    const auto like = likes.find(key_of_others(row.axes));
    return like == likes.end() ? *largest : *like->second;
}

const Row& reference_of(const std::vector<Row>& rows, const std::string& recipe, const Row& row) {
    return References(rows, recipe).of(row);
}

namespace {

// Whether what `counts` of the others is the same.
bool agree(const Axes& a, const Axes& b, const std::function<bool(const Axes&, const std::string&)>& counts) {
    const auto has_too = [&](const Axes& one, const Axes& two) {
        return std::all_of(one.others.begin(), one.others.end(), [&](const auto& axis) {
            const auto found = two.others.find(axis.first);
            return !counts(one, axis.first) || (found != two.others.end() && found->second == axis.second);
        });
    };
    return has_too(a, b) && has_too(b, a);
}

}  // namespace

bool Axes::is_like(const Axes& other) const {
    return agree(*this, other,
                 [](const Axes& axes, const std::string& key) { return !axes.follow_budget.contains(key); });
}

bool Axes::trains_like(const Axes& other) const {
    return agree(*this, other, [](const Axes&, const std::string& key) {
        return !key.starts_with("train.") && key.find(".train.") == std::string::npos;
    });
}

std::string Axes::budget_text() const {
    return fmt::format("{:g}%", budget_fraction * 100);
}

std::string Axes::others_text() const {
    std::string text;
    for (const auto& [key, value] : others)
        if (!follow_budget.contains(key)) text += fmt::format("{}{}={}", text.empty() ? "" : ", ", key, value);
    return text;
}

namespace {

// "train.budget_fraction", or "pretrain.train.budget_fraction" of the one stage that has it: trials of later stages are
// identified by the budget of what they start from. Empty where none has it, or several do.
std::string budget_axis(const Json& axes) {
    std::string found;
    for (const auto& [key, value] : axes.items()) {
        if (key != kBudget && !key.ends_with(std::string(".") + kBudget)) continue;
        if (!found.empty()) return {};
        found = key;
    }
    return found;
}

}  // namespace

Axes parse_axes(const std::string& axes_json) {
    Axes axes;
    const Json parsed = try_parse_json(axes_json);
    if (!parsed.is_object()) return axes;
    const std::string budget = budget_axis(parsed);
    for (const auto& [key, value] : parsed.items()) {
        if (key == budget && value.is_number()) {
            axes.has_budget = true;
            axes.budget_fraction = value.get<double>();
        } else {
            axes.others[key] = value.is_string() ? value.get<std::string>() : value.dump();
        }
    }
    return axes;
}

}  // namespace deft::reporting
