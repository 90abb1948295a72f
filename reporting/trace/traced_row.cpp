#include "reporting/trace/traced_row.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/suggestion.h"
#include "reporting/published/published.h"
#include "results_db/trial_name.h"

namespace deft::reporting {

namespace {

std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
}

struct AskedRow {
    std::string name;              // without the budget
    std::optional<double> budget;  // a fraction
};

// The share before a last '%', which is cut off with the blank or the "at" before it; nothing where the text ends in
// none.
std::optional<double> take_budget(std::string_view& text) {
    if (!text.ends_with('%')) return std::nullopt;
    const std::string_view rest = trimmed(text.substr(0, text.size() - 1));
    const std::size_t blank = rest.rfind(' ');
    if (blank == std::string_view::npos) return std::nullopt;
    const std::string_view digits = rest.substr(blank + 1);
    double percent = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), percent);
    if (read.ec != std::errc() || read.ptr != digits.data() + digits.size()) return std::nullopt;
    text = trimmed(rest.substr(0, blank));
    if (text.ends_with(" at")) text = trimmed(text.substr(0, text.size() - 3));
    return percent / 100;
}

AskedRow parse_row(const std::string& asked) {
    std::string_view text = trimmed(asked);
    AskedRow row;
    row.budget = take_budget(text);
    for (const std::string_view mark : {" (under capacity)", " (imported)"})
        if (text.ends_with(mark)) text = trimmed(text.substr(0, text.size() - mark.size()));
    row.name = text;
    return row;
}

// Follows the grammar of trials' names, without a seed: a row has several.
bool is_called(const Row& row, const std::string& name) {
    results_db::TrialRow place;
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
    const AskedRow parsed = parse_row(asked);
    std::vector<const Row*> found, at_any_budget, all;
    std::vector<std::string> names;
    for (const Row& row : rows) {
        if (row.name == asked) return row;
        all.push_back(&row);
        names.insert(names.end(), {row.name, row.recipe});
        if (!is_called(row, parsed.name)) continue;
        at_any_budget.push_back(&row);
        if (!parsed.budget || same_budget(*parsed.budget, row.axes.budget_fraction)) found.push_back(&row);
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
