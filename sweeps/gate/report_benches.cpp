#include "sweeps/gate/report_benches.h"

#include <fmt/format.h>

#include <memory>
#include <set>

#include "base/scratch_folder.h"
#include "base/stopwatch.h"
#include "reporting/analysis/load_results.h"
#include "reporting/numbers.h"
#include "reporting/views/page/drawn_trials.h"
#include "reporting/views/page/page.h"
#include "reporting/views/screen/screen.h"
#include "results_db/reader.h"
#include "sweeps/driver/current_inputs.h"
#include "sweeps/driver/driver.h"
#include "sweeps/driver/root.h"
#include "sweeps/gate/finished_sweep.h"
#include "sweeps/spec/expand.h"
#include "sweeps/spec/spec.h"

namespace deft::sweeps {

namespace {

using kernels::BenchCase;
using kernels::PreparedBench;

constexpr SweepSize kSize;
constexpr int kScreenWidth = 80;

// A root with a finished sweep, and how long it took to fill.
struct FilledRoot {
    ScratchFolder folder;
    std::filesystem::path file;
    double seconds = 0;
};

// Filled by the first case that wants it, and shared by the cases of one list.
using SharedRoot = std::shared_ptr<std::shared_ptr<const FilledRoot>>;

std::shared_ptr<const FilledRoot> filled_root(const SharedRoot& shared) {
    if (*shared) return *shared;
    const auto filled = std::make_shared<FilledRoot>();
    const auto start = Clock::now();
    filled->file = write_finished_sweep(filled->folder.path, kSize);
    filled->seconds = seconds_since(start);
    return *shared = filled;
}

reporting::ReportData read_report(const std::filesystem::path& root, bool with_curves) {
    const results_db::Reader reader(database_file(root));
    reporting::ReportData data;
    data.sweep = reporting::load_results(
        reader, kFinishedSweep, [&](const results_db::StoredSweep& sweep) { return current_inputs(sweep, root); });
    data.about.baseline = data.sweep.baseline;
    if (!with_curves) return data;
    const std::set<std::string> drawn = reporting::drawn_trials(data.sweep);
    data.curves = reader.curves(data.sweep, &drawn);
    data.checkpoints = reader.checkpoints(data.sweep);
    return data;
}

std::string page_of(const std::filesystem::path& root) {
    return reporting::render_page(read_report(root, true));
}

std::string screen_text(const std::filesystem::path& root) {
    return reporting::render_screen(reporting::screen_of(read_report(root, false), {}, kScreenWidth), kScreenWidth);
}

// The work of `deft run` for a sweep that has nothing left, its page and screen aside.
RunSummary run_again(const FilledRoot& filled) {
    const Spec spec = load_spec(filled.file);
    DriverOptions options;
    options.root = filled.folder.path;
    options.progress = ProgressMode::none;
    return run_sweep(spec, expand(spec), options);
}

PreparedBench prepared_for(const FilledRoot& filled) {
    PreparedBench prepared;
    prepared.items = kSize.trials();
    prepared.item = "trial";
    prepared.note = fmt::format("filling the database took {}", reporting::seconds(filled.seconds));
    return prepared;
}

// Right: the page names the last recipe.
PreparedBench prepare_page(const SharedRoot& shared) {
    const auto filled = filled_root(shared);
    PreparedBench prepared = prepared_for(*filled);
    const std::string page = page_of(filled->folder.path);
    prepared.note += fmt::format("; a page of {}", reporting::si(static_cast<double>(page.size()), "B"));
    if (page.find(fmt::format("case{}", kSize.recipes - 1)) == std::string::npos)
        prepared.wrong = "the page lacks the last recipe";
    prepared.hot = [filled] { page_of(filled->folder.path); };
    return prepared;
}

// Right: the screen says that all trials are done.
PreparedBench prepare_screen(const SharedRoot& shared) {
    const auto filled = filled_root(shared);
    PreparedBench prepared = prepared_for(*filled);
    if (screen_text(filled->folder.path).find(fmt::format("{0} of {0} trials done", kSize.trials())) ==
        std::string::npos)
        prepared.wrong = "the screen lacks trials";
    prepared.hot = [filled] { screen_text(filled->folder.path); };
    return prepared;
}

// Right: nothing is left to run.
PreparedBench prepare_finished_run(const SharedRoot& shared) {
    const auto filled = filled_root(shared);
    PreparedBench prepared = prepared_for(*filled);
    if (const RunSummary summary = run_again(*filled); summary.already_done != kSize.trials())
        prepared.wrong = fmt::format("{} of {} trials were done", summary.already_done, kSize.trials());
    prepared.hot = [filled] { run_again(*filled); };
    return prepared;
}

}  // namespace

std::vector<BenchCase> report_benches() {
    const std::string size = fmt::format("{}/{}", kSize.trials(), kSize.points);
    const auto shared = std::make_shared<std::shared_ptr<const FilledRoot>>();
    return {{"report/screen/" + size, "cpu", 0, 0, [=](int) { return prepare_screen(shared); }},
            {"report/page/" + size, "cpu", 0, 0, [=](int) { return prepare_page(shared); }},
            {"report/finished_run/" + size, "cpu", 0, 0, [=](int) { return prepare_finished_run(shared); }}};
}

}  // namespace deft::sweeps
