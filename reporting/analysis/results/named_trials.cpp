#include "reporting/analysis/results/named_trials.h"

#include "reporting/analysis/results/rows.h"
#include "results_db/row_name.h"
#include "results_db/trial_name.h"

namespace deft::reporting {

bool is_meant(const results_db::TrialRow& trial, const std::string& asked) {
    if (results_db::is_named(trial, asked)) return true;
    const results_db::RowName row = results_db::parse_row_name(asked);
    return results_db::is_named(trial, row.name) &&
           (!row.budget || results_db::same_budget(*row.budget, parse_axes(trial.axes_json).budget_fraction));
}

}  // namespace deft::reporting
