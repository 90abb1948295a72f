#include "reporting/views/page/drawn_trials.h"

#include <algorithm>
#include <cstddef>

#include "reporting/analysis/comparison/stages.h"
#include "reporting/analysis/curves/curves.h"
#include "reporting/analysis/results/rows.h"

namespace deft::reporting {

namespace {

// All seeds of the rows that curve_figures() draws. Of each other row the first seed, which run_schedules.cpp draws and
// which names the row among those that are not drawn.
void add_drawn(const std::vector<Row>& rows, std::set<std::string>& drawn) {
    std::size_t drawn_rows = 0;
    for (const Row& row : rows) {
        bool has_points = false;
        for (const Trial* trial : row.ok) {
            if (!trial->last_point || (has_points && drawn_rows >= kMostSeries)) continue;
            has_points = true;
            drawn.insert(trial->config_hash);
        }
        if (has_points) ++drawn_rows;
    }
}

}  // namespace

std::set<std::string> drawn_trials(const Results& sweep) {
    // Validation losses of rows with experts are drawn by what each row had consumed.
    const bool has_experts = std::any_of(sweep.trials.begin(), sweep.trials.end(),
                                         [](const Trial& trial) { return trial.settings.has_experts; });
    std::set<std::string> drawn;
    for (const Trial& trial : sweep.trials)
        if (has_experts || trial.state == "running") drawn.insert(trial.config_hash);
    for (const StageResults& stage : stages_of(sweep)) add_drawn(rows_of(stage.sweep), drawn);
    return drawn;
}

}  // namespace deft::reporting
