#include "sweeps/gate/report_benches.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <memory>

#include "base/files.h"
#include "base/journal.h"
#include "base/json.h"
#include "base/scratch_folder.h"
#include "base/sha256.h"
#include "base/stopwatch.h"
#include "reporting/analysis/load_results.h"
#include "reporting/numbers.h"
#include "reporting/views/page/page.h"
#include "results_db/config_hashes.h"
#include "results_db/reader.h"
#include "results_db/writer.h"

namespace deft::sweeps {

namespace {

using kernels::BenchCase;
using kernels::PreparedBench;

constexpr const char* kSweep = "bench";
constexpr const char* kDatabase = "results.db";
constexpr std::int64_t kLength = 64;
constexpr int kRuns = 1000, kPoints = 200, kSeeds = 5;  // points of a run, seeds of a row

journal::TrainPoint invented_point(int run, int step) {
    journal::TrainPoint point;
    point.step = step;
    point.input_tokens = point.unique_tokens = point.layer_tokens = 1000LL * step;
    point.flops = 1e9 * step;
    point.wall_ms = 100LL * step;
    point.loss = 1 + 4.0 / step + 0.1 * std::sin(run + 0.7 * step);
    point.seqlen = point.kept_tokens = kLength;
    return point;
}

// One journal, as a trial would have left it.
std::string invented_journal(int run, int points) {
    std::string text;
    for (int step = 1; step <= points; ++step) text += journal::to_json(invented_point(run, step)).dump() + "\n";
    journal::Evaluation score;
    score.step = points;
    score.split = "test";
    score.n = 500;
    score.task_version = "1";
    score.standard_error = score.chance = std::numeric_limits<double>::quiet_NaN();
    for (const char* task : {"validation", "questions", "words", "facts"}) {
        const bool validation = std::string(task) == "validation";
        score.task = task;
        score.metric = validation ? "loss" : "acc";
        score.unit = validation ? "nats/token" : "";
        score.better = validation ? "lower" : "higher";
        score.value = 0.5 + 0.01 * std::sin(run);
        text += journal::to_json(score).dump() + "\n";
    }
    return text;
}

// Fills the database of a new folder.
void fill(const std::filesystem::path& folder) {
    results_db::Writer writer(folder / kDatabase);
    const std::int64_t code = writer.add_code({"0123456789abcdef", "main", false, "", "", "b", "c", "-O3", "Release"});
    results_db::Host host;
    host.hostname = "bench";
    host.cpu_model = "none";
    const std::int64_t host_id = writer.add_host(host);
    const std::int64_t sweep = writer.add_sweep({kSweep, sha256(kSweep), "", "[]"});
    const std::filesystem::path journal = folder / "journal.jsonl";
    for (int run = 0; run < kRuns; ++run) {
        const int row = run / kSeeds;
        const Json config = {{"model", {{"seqlen", kLength}}}, {"row", row}, {"seed", run % kSeeds}};
        const results_db::ConfigHashes hashes = results_db::hashes_of_config(config);
        const std::int64_t trial_id =
            writer.add_trial({hashes.config, hashes.variant, run % kSeeds, canonical_json(config), ""});
        writer.add_place(sweep, trial_id,
                         {run, fmt::format("case{}", row / 2),
                          row % 2 == 0 ? R"({"train.budget_fraction":1.0})" : R"({"train.budget_fraction":0.5})"});
        results_db::NewAttempt attempt;
        attempt.uid = fmt::format("run{}", run);
        attempt.workdir = "runs/" + attempt.uid;
        const std::int64_t id = writer.begin_attempt(trial_id, code, host_id, attempt);
        write_file_atomically(journal, invented_journal(run, kPoints));
        writer.ingest(id, journal);
        results_db::Outcome outcome;
        outcome.state = "ok";
        outcome.exit_code = 0;
        writer.end_attempt(id, outcome);
    }
}

// A database with its folder, and how long it took to fill.
struct FilledDatabase {
    ScratchFolder folder;
    double seconds = 0;
};

// Filled by the first case that wants it, and shared by the cases of one list.
using SharedDatabase = std::shared_ptr<std::shared_ptr<const FilledDatabase>>;

std::shared_ptr<const FilledDatabase> filled_database(const SharedDatabase& shared) {
    if (*shared) return *shared;
    const auto filled = std::make_shared<FilledDatabase>();
    const auto start = Clock::now();
    fill(filled->folder.path);
    filled->seconds = seconds_since(start);
    return *shared = filled;
}

reporting::ReportData read_report(const std::filesystem::path& folder) {
    const results_db::Reader reader(folder / kDatabase);
    reporting::ReportData data;
    data.sweep = reporting::load_results(reader, kSweep, reporting::unknown_inputs());
    data.curves = reader.curves(data.sweep);
    data.checkpoints = reader.checkpoints(data.sweep);
    return data;
}

PreparedBench prepared_for_runs() {
    PreparedBench prepared;
    prepared.items = kRuns;
    prepared.item = "run";
    return prepared;
}

// Right: every run is there with all of its points.
PreparedBench prepare_reading(const SharedDatabase& shared) {
    const auto filled = filled_database(shared);
    PreparedBench prepared = prepared_for_runs();
    prepared.note = fmt::format("filling the database took {}", reporting::seconds(filled->seconds));
    const reporting::ReportData data = read_report(filled->folder.path);
    std::size_t points = 0;
    for (const auto& [trial, curve] : data.curves) points += curve.points.size();
    if (data.sweep.trials.size() != kRuns || points != std::size_t{kRuns} * kPoints)
        prepared.wrong = fmt::format("{} runs and {} points were read", data.sweep.trials.size(), points);
    prepared.hot = [filled] { read_report(filled->folder.path); };
    return prepared;
}

// Right: the page names the last case.
PreparedBench prepare_rendering(const SharedDatabase& shared) {
    const auto data = std::make_shared<const reporting::ReportData>(read_report(filled_database(shared)->folder.path));
    PreparedBench prepared = prepared_for_runs();
    const std::string page = reporting::render_page(*data);
    prepared.note = fmt::format("a page of {}", reporting::si(static_cast<double>(page.size()), "B"));
    if (page.find(fmt::format("case{}", (kRuns - 1) / kSeeds / 2)) == std::string::npos)
        prepared.wrong = "the page lacks the last case";
    prepared.hot = [data] { reporting::render_page(*data); };
    return prepared;
}

}  // namespace

std::vector<BenchCase> report_benches() {
    const std::string size = fmt::format("{}/{}", kRuns, kPoints);
    const auto shared = std::make_shared<std::shared_ptr<const FilledDatabase>>();
    return {{"report/read/" + size, "cpu", 0, 0, [=](int) { return prepare_reading(shared); }},
            {"report/render/" + size, "cpu", 0, 0, [=](int) { return prepare_rendering(shared); }}};
}

}  // namespace deft::sweeps
