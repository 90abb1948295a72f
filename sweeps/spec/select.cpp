#include "sweeps/spec/select.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/json.h"
#include "base/suggestion.h"
#include "reporting/analysis/results/named_trials.h"
#include "results_db/row_name.h"
#include "results_db/trial_name.h"

namespace deft::sweeps {

namespace {

// "cl[budget_fraction=0.5]" of "cl[budget_fraction=0.5]/1".
std::string row_of(const Trial& trial) {
    const std::string name = trial.name();
    return name.substr(0, name.rfind('/'));
}

bool means(const std::string& name, const Trial& trial) {
    if (name == trial.recipe || name == trial.name() || name == row_of(trial)) return true;
    results_db::TrialRow place;
    place.recipe = trial.recipe;
    place.stage = trial.stage;
    place.axes_json = canonical_json(trial.axes);
    place.seeds = results_db::seeds_text(trial.seeds);
    return reporting::is_meant(place, name);
}

// Whether it may be a row or a trial of that recipe.
bool is_within(const std::string& name, const Recipe& entry) {
    return name.starts_with(entry.name) &&
           (name.size() == entry.name.size() || std::string("[:/").find(name[entry.name.size()]) != std::string::npos);
}

}  // namespace

bool is_selected(const Trial& trial, const std::vector<std::string>& names) {
    return names.empty() ||
           std::any_of(names.begin(), names.end(), [&](const std::string& name) { return means(name, trial); });
}

std::vector<char> selected_trials(const std::vector<Trial>& trials, const std::vector<std::string>& names) {
    std::vector<char> selected(trials.size(), 0);
    for (std::size_t i = 0; i < trials.size(); ++i) {
        if (!is_selected(trials[i], names)) continue;
        selected[i] = 1;
        const bool is_recipe_named = std::find(names.begin(), names.end(), trials[i].recipe) != names.end();
        if (names.empty() || is_recipe_named) continue;
        for (auto start = trials[i].parent; start; start = trials[*start].parent) selected[*start] = 1;
    }
    return selected;
}

void require_selected(const Spec& spec, const std::vector<Trial>& trials, const std::vector<std::string>& names) {
    std::vector<std::string> known;
    for (const Recipe& entry : spec.recipes) known.push_back(entry.name);
    for (const Trial& trial : trials)
        for (std::string name : {row_of(trial), trial.name()})
            if (known.empty() || known.back() != name) known.push_back(std::move(name));
    for (const std::string& name : names) {
        if (spec.find_recipe(name) != nullptr) continue;
        if (std::any_of(trials.begin(), trials.end(), [&](const Trial& trial) { return means(name, trial); })) continue;
        throw Error(ErrorKind::usage, fmt::format("the sweep {} has no recipe, row or trial {}", spec.name, name),
                    suggestion(name, known, "deft status lists a sweep's trials"));
    }
}

void require_selectable(const Spec& spec, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
        const std::string within = results_db::parse_row_name(name).name;
        if (std::none_of(spec.recipes.begin(), spec.recipes.end(),
                         [&](const Recipe& entry) { return is_within(within, entry); }))
            require_recipes(spec, {within});
    }
}

std::vector<std::string> split_names(const std::string& text) {
    std::vector<std::string> names(1);
    int depth = 0;
    for (const char c : text) {
        depth += c == '[' ? 1 : c == ']' ? -1 : 0;
        if (c == ',' && depth <= 0)
            names.emplace_back();
        else
            names.back() += c;
    }
    return names;
}

}  // namespace deft::sweeps
