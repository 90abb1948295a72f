#include "sweeps/gate/report_bench.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>

#include "base/files.h"
#include "base/journal.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/stopwatch.h"
#include "reporting/page.h"
#include "results_db/store.h"

namespace deft::sweeps {

namespace {

constexpr const char* kSweep = "bench";
constexpr std::int64_t kLength = 64;

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

void fill(const ReportBench& bench, const std::filesystem::path& folder, const std::filesystem::path& database) {
    results_db::Writer writer(database);
    const std::int64_t code = writer.add_code({"0123456789abcdef", "main", false, "", "", "b", "c", "-O3", "Release"});
    results_db::Host host;
    host.hostname = "bench";
    host.cpu_model = "none";
    const std::int64_t host_id = writer.add_host(host);
    const std::int64_t sweep = writer.add_sweep({kSweep, sha256(kSweep), "", "[]"});
    const std::filesystem::path journal = folder / "journal.jsonl";
    for (int run = 0; run < bench.runs; ++run) {
        const int row = run / bench.seeds;
        const std::string config = fmt::format(R"({{"model":{{"seqlen":{}}},"run":{}}})", kLength, run);
        const std::int64_t experiment =
            writer.add_experiment({sha256(config), fmt::format("v{}", row), run % bench.seeds, config, ""});
        writer.add_member(sweep, experiment,
                          {run, fmt::format("case{}", row / 2),
                           row % 2 == 0 ? R"({"train.budget_fraction":1.0})" : R"({"train.budget_fraction":0.5})"});
        results_db::NewAttempt attempt;
        attempt.uid = fmt::format("run{}", run);
        attempt.workdir = "runs/" + attempt.uid;
        const std::int64_t id = writer.begin_attempt(experiment, code, host_id, attempt);
        write_file_atomically(journal, invented_journal(run, bench.points));
        writer.ingest(id, journal);
        results_db::Outcome outcome;
        outcome.state = "ok";
        outcome.exit_code = 0;
        writer.end_attempt(id, outcome);
    }
}

}  // namespace

ReportTime time_report(const ReportBench& bench, const std::filesystem::path& folder) {
    const std::filesystem::path database = folder / "results.db";
    ReportTime time;
    const auto begin = Clock::now();
    fill(bench, folder, database);
    time.write_seconds = seconds_since(begin);

    const auto read = Clock::now();
    const results_db::Reader reader(database);
    reporting::ReportData data;
    data.sweep = reader.sweep(kSweep);
    data.curves = reader.curves(data.sweep);
    data.checkpoints = reader.checkpoints(data.sweep);
    time.read_seconds = seconds_since(read);

    const auto render = Clock::now();
    time.page_bytes = static_cast<std::int64_t>(reporting::render_page(data).size());
    time.render_seconds = seconds_since(render);
    return time;
}

}  // namespace deft::sweeps
