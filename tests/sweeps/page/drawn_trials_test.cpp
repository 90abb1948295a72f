// The curves that a page reads of a sweep with more rows than it draws.

#include "reporting/views/page/drawn_trials.h"

#include "reporting/analysis/load_results.h"
#include "reporting/views/page/page.h"
#include "results_db/reader.h"
#include "sweeps/driver/root.h"
#include "sweeps/gate/finished_sweep.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

using namespace deft;

TEST_CASE("A page of the drawn trials' points is the page of all points") {
    const test::TemporaryFolder folder;
    sweeps::SweepSize size;
    size.recipes = 8;
    size.seeds = 2;
    size.points = 5;
    sweeps::write_finished_sweep(folder.path(), size);
    const results_db::Reader reader(sweeps::database_file(folder.path()));
    reporting::ReportData data;
    data.sweep = reporting::load_results(reader, sweeps::kFinishedSweep, reporting::unknown_inputs());
    data.about.baseline = data.sweep.baseline;
    data.curves = reader.curves(data.sweep);
    const std::string page = reporting::render_page(data);

    const std::set<std::string> drawn = reporting::drawn_trials(data.sweep);
    CHECK(drawn.size() == 12 * 2 + 4);  // all seeds of twelve rows, and one of each of four
    data.curves = reader.curves(data.sweep, &drawn);
    CHECK(reporting::render_page(data) == page);
}
