#include "reporting/analysis/missing/missing_edits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/suites.h"
#include "reporting/analysis/claims/claim_values.h"
#include "reporting/analysis/glue/glue_scores.h"

namespace deft::reporting {

namespace {

using results_db::AskedScore;

bool is_of(const std::optional<ClaimedRow>& claimed, const Row& row) {
    return claimed && is_claimed(row, *claimed);
}

// A suite's average takes any task that has an accuracy; only scores show which ones those are.
bool answers(const AskedScore& asked, const Quantity& quantity) {
    if (asked.shots != quantity.shots) return false;
    return quantity.kind == Quantity::Kind::suite ? asked.task != "validation" : asked.task == quantity.name;
}

// A task measures it, or for GLUE later stages that fine-tune.
bool is_asked(const Results& sweep, const Quantity& quantity) {
    if (quantity.kind == Quantity::Kind::suite && quantity.name == kGlueSuite && !glue_scores(sweep).models.empty())
        return true;
    for (const Trial& trial : sweep.trials)
        for (const AskedScore& asked : trial.asked)
            if (answers(asked, quantity)) return true;
    return false;
}

// The text to write into eval.tasks.
std::string task_to_ask(const Quantity& quantity) {
    std::string task = quantity.name;
    if (quantity.kind == Quantity::Kind::suite) task = project_suite(quantity.name).tasks.front().name + " or others";
    return fmt::format("add {}{} to eval.tasks", task,
                       quantity.shots > 0 ? fmt::format(" with {} shots", quantity.shots) : "");
}

}  // namespace

std::vector<MissingRun> missing_edits(const Results& sweep, const std::vector<Row>& rows, const PublishedTable& table) {
    std::vector<MissingRun> edits;
    for (const PublishedRow& published : table.rows) {
        if (std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
                return is_claimed(row, {published.recipe, published.budget_fraction});
            }))
            continue;
        const bool has_recipe =
            std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return row.recipe == published.recipe; });
        edits.push_back({Lack::edit,
                         "row " + published.name(),
                         "published, but not in the sweep",
                         "that row",
                         {},
                         {},
                         {},
                         has_recipe ? fmt::format("add {:g} to train.budget_fraction", published.budget_fraction)
                                    : fmt::format("add a [[case]] named \"{}\"", published.recipe)});
    }
    for (const PublishedColumn& column : table.columns) {
        if (!column.measures || column.measures->kind == Quantity::Kind::resource || is_asked(sweep, *column.measures))
            continue;
        edits.push_back({Lack::edit,
                         "column " + column.title,
                         "published, but no task of the sweep measures it",
                         to_text(*column.measures),
                         {},
                         {},
                         {},
                         task_to_ask(*column.measures)});
    }
    return edits;
}

std::vector<std::string> claims_of(const PublishedTable& table, const Row& row) {
    std::vector<std::string> names;
    const bool is_published = table.find(row.recipe, row.axes.budget_fraction) != nullptr;
    for (const Claim& claim : table.claims)
        if ((claim.kind == ClaimKind::best_in_column && is_published) || is_of(claim.of, row) ||
            is_of(claim.against, row) || is_of(claim.from, row))
            names.push_back(claim.id);
    return names;
}

}  // namespace deft::reporting
