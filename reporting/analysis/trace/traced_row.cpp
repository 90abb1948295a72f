#include "reporting/analysis/trace/traced_row.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/suggestion.h"
#include "results_db/row_name.h"
#include "results_db/trial_name.h"

namespace deft::reporting {

namespace {

// Follows the grammar of trials' names, without a seed: a row has several.
bool is_called(const Row& row, const std::string& name) {
    Trial place;
    place.recipe = row.recipe;
    place.stage = row.stage;
    place.axes_json = row.trials.front()->axes_json;
    place.seeds = "any";
    return results_db::is_named(place, name);
}

std::string listed(const std::vector<const Row*>& rows) {
    std::vector<std::string> names;
    for (const Row* row : rows) names.push_back("'" + row->name + "'");
    return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

const Row& find_row(const std::vector<Row>& rows, const std::string& asked) {
    const results_db::RowName parsed = results_db::parse_row_name(asked);
    std::vector<const Row*> found, at_any_budget, all;
    std::vector<std::string> names;
    for (const Row& row : rows) {
        if (row.name == asked) return row;
        all.push_back(&row);
        names.insert(names.end(), {row.name, row.recipe});
        if (!is_called(row, parsed.name)) continue;
        at_any_budget.push_back(&row);
        if (!parsed.budget || results_db::same_budget(*parsed.budget, row.axes.budget_fraction)) found.push_back(&row);
    }
    if (found.size() == 1) return *found.front();
    if (found.size() > 1)
        throw Error(ErrorKind::usage, fmt::format("'{}' may be any of {} rows", asked, found.size()),
                    "choose one of: " + listed(found));
    if (!at_any_budget.empty())
        throw Error(ErrorKind::usage, fmt::format("the table has no row '{}'", asked),
                    "choose one of: " + listed(at_any_budget));
    throw Error(ErrorKind::usage, fmt::format("the table has no row '{}'", asked),
                suggestion(parsed.name, names, "its rows: " + listed(all)));
}

}  // namespace deft::reporting
