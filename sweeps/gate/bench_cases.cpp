#include "sweeps/gate/bench_cases.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <memory>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/journal.h"
#include "base/json.h"
#include "base/scratch_folder.h"
#include "base/sha256.h"
#include "base/stopwatch.h"
#include "engine/bench/cases.h"
#include "engine/core/backend.h"
#include "experiments/bench/scoring.h"
#include "reporting/numbers.h"
#include "reporting/page.h"
#include "results_db/store.h"

namespace deft::sweeps {

namespace {

using kernels::BenchCase;
using kernels::PreparedBench;

constexpr std::uint64_t kSeed = 1;  // of the inputs

// The HTML report of a database of many invented runs: read, and rendered.

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
        const std::string config = fmt::format(R"({{"model":{{"seqlen":{}}},"run":{}}})", kLength, run);
        const std::int64_t experiment =
            writer.add_experiment({sha256(config), fmt::format("v{}", row), run % kSeeds, config, ""});
        writer.add_member(sweep, experiment,
                          {run, fmt::format("case{}", row / 2),
                           row % 2 == 0 ? R"({"train.budget_fraction":1.0})" : R"({"train.budget_fraction":0.5})"});
        results_db::NewAttempt attempt;
        attempt.uid = fmt::format("run{}", run);
        attempt.workdir = "runs/" + attempt.uid;
        const std::int64_t id = writer.begin_attempt(experiment, code, host_id, attempt);
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
    data.sweep = reader.sweep(kSweep);
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

std::vector<BenchCase> report_benches() {
    const std::string size = fmt::format("{}/{}", kRuns, kPoints);
    const auto shared = std::make_shared<std::shared_ptr<const FilledDatabase>>();
    return {{"report/read/" + size, "cpu", 0, 0, [=](int) { return prepare_reading(shared); }},
            {"report/render/" + size, "cpu", 0, 0, [=](int) { return prepare_rendering(shared); }}};
}

// Of the whole program but the kernels, on the CPU.
std::vector<BenchCase> other_benches() {
    constexpr std::int64_t kScoredBatches = 4;
    std::vector<BenchCase> cases = engine::engine_benches(kSeed);
    std::ranges::move(experiments::scoring_benches(engine::standard_step_benches(), kScoredBatches),
                      std::back_inserter(cases));
    std::ranges::move(report_benches(), std::back_inserter(cases));
    return cases;
}

}  // namespace

std::vector<BenchCase> bench_cases(kernels::BenchBackends backends) {
    std::vector<BenchCase> cases = kernels::op_benches(kSeed, backends);
    if (backends != kernels::BenchBackends::cuda) std::ranges::move(other_benches(), std::back_inserter(cases));
    return cases;
}

std::optional<BenchCase> find_bench_case(const std::string& name, std::size_t place) {
    for (BenchCase& bench : other_benches())
        if (bench.name == name) return std::move(bench);
    return kernels::find_op_bench(name, place, kSeed);
}

bool matches(const std::string& name, const std::vector<std::string>& patterns) {
    return patterns.empty() || std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
               return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
           });
}

void keep_matching(std::vector<reporting::BenchSeries>& series, const std::vector<std::string>& patterns) {
    std::erase_if(series, [&](const reporting::BenchSeries& one) { return !matches(one.case_name, patterns); });
}

kernels::BenchBackends chosen_backends(const std::string& word) {
    using kernels::BenchBackends;
    if (word == "cpu") return BenchBackends::cpu;
    const std::string problem = engine::gpu_problem();
    if (word != "cuda") return problem.empty() ? BenchBackends::all : BenchBackends::cpu;
    if (problem.empty()) return BenchBackends::cuda;
    throw Error(ErrorKind::missing, "no GPU can be used: " + problem, "use --backend cpu, or see `deft doctor`");
}

std::vector<BenchCase> chosen_benches(const std::vector<std::string>& patterns, kernels::BenchBackends backends) {
    std::vector<BenchCase> benches = bench_cases(backends);
    std::set<std::string> chosen;
    for (const BenchCase& bench : benches)
        if (matches(bench.name, patterns)) chosen.insert({bench.name, bench.beside});
    std::erase_if(benches, [&](const BenchCase& bench) { return !chosen.contains(bench.name); });
    if (benches.empty())
        throw Error(ErrorKind::missing, fmt::format("no case matches {}", fmt::join(patterns, ", ")),
                    "see deft bench list");
    return benches;
}

}  // namespace deft::sweeps
