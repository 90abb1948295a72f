#include "sweeps/cli/plan_jobs_table.h"

#include <fmt/format.h>

#include "reporting/numbers.h"

namespace deft::cli {

reporting::Table jobs_table(const sweeps::JobsPlan& jobs) {
    using reporting::Align;
    reporting::Table table;
    table.caption = "Slurm jobs";
    table.columns = {{"recipe", Align::left}, {"trainings"}, {"jobs"}, {"projected\ntime"}, {"limit\nof a job"}};
    for (const sweeps::JobsRow& row : jobs.rows)
        table.rows.push_back({{row.row, fmt::format("{}", row.trainings), fmt::format("{}", row.jobs),
                               row.seconds ? reporting::rough_seconds(*row.seconds) : "-",
                               row.limit.empty() ? "the partition's" : row.limit}});
    table.notes = jobs.notes;
    return table;
}

}  // namespace deft::cli
