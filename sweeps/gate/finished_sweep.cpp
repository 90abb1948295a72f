#include "sweeps/gate/finished_sweep.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/files.h"
#include "base/journal.h"
#include "base/score_key.h"
#include "base/sha256.h"
#include "experiments/inputs_now.h"
#include "results_db/writer.h"
#include "sweeps/driver/announced_lock.h"
#include "sweeps/driver/record_sweep.h"
#include "sweeps/driver/root.h"
#include "sweeps/spec/expand.h"
#include "sweeps/spec/spec.h"

namespace deft::sweeps {

namespace {

constexpr std::int64_t kStartMs = 1'700'000'000'000, kTrialMs = 10'000;

// The sizes of sweeps/quickstart.toml.
constexpr const char* kHead = R"toml(name = "finished"
baseline = "case0"
[resources]
threads = 1
slots = "cpu:1"
[price]
sku = "an invented device"
usd_per_device_hour = 0.04
date = "2021-10-28"
source = "an invented list"
[defaults.model]
layers = 4
width = 64
heads = 2
seqlen = 64
[defaults.data]
corpus = "embedded"
embedded_bytes = 20_000
[defaults.train]
batch_size = 8
budget_tokens = 500_000
warmup_tokens = 20_000
decay = "cosine"
[defaults.eval]
tasks = ["embedded_questions", "embedded_last_words"]
documents = 500
validation_tokens = 65_536
[axes.grid]
"train.budget_fraction" = [1.0, 0.5]
)toml";

constexpr const char* kCurriculum =
    "[case.curriculum.seqtru]\npacing = \"linear\"\nmin = 16\ndifficulty_step = 8\nduration = 0.384\n";
constexpr const char* kRandomLtd = "[case.random_ltd]\nmin = 16\nstep = 8\nduration = 0.699\n";

// Recipes differ in their learning rate, and every second and every fourth in a technique.
std::string sweep_text(const SweepSize& size) {
    std::string text = "seeds = [";
    for (int seed = 1; seed <= size.seeds; ++seed) text += fmt::format("{}{}", seed == 1 ? "" : ", ", seed);
    text += "]\n" + std::string(kHead);
    for (int recipe = 0; recipe < size.recipes; ++recipe) {
        text += fmt::format("[[case]]\nname = \"case{}\"\n[case.train]\nlearning_rate = {:.8f}\n", recipe,
                            1e-3 * (1 + 0.01 * recipe));
        if (recipe % 2 == 1) text += kCurriculum;
        if (recipe % 4 >= 2) text += kRandomLtd;
    }
    return text;
}

std::string training_journal(const Trial& trial, std::int64_t number, int points) {
    const experiments::Projection& planned = trial.projection;
    journal::Started started;
    started.time_ms = kStartMs + number * kTrialMs;
    started.dataset_name = "an invented corpus";
    started.dataset_sha256 = trial.config.data.sha256;
    started.total_steps = planned.steps;
    started.parameters = 221'000;
    started.config_hash = trial.config_hash;
    std::string text = journal::to_json(started).dump() + "\n";
    for (int i = 1; i <= points; ++i) {
        const double share = static_cast<double>(i) / points;
        const auto part = [&](auto total) {
            return static_cast<std::int64_t>(std::llround(share * static_cast<double>(total)));
        };
        journal::TrainPoint point;
        point.step = part(planned.steps);
        point.input_tokens = point.unique_tokens = part(planned.input_tokens);
        point.layer_tokens = part(planned.layer_tokens);
        point.flops = share * planned.flops;
        point.wall_ms = part(kTrialMs);
        point.loss = 1 + 4.0 / i + 0.1 * std::sin(static_cast<double>(number) + 0.7 * i);
        point.seqlen = point.kept_tokens = trial.config.model.seqlen;
        text += journal::to_json(point).dump() + "\n";
    }
    journal::Artifact checkpoint;
    checkpoint.kind = "checkpoint";
    checkpoint.path = fmt::format("checkpoints/{}/step/checkpoint.json", trial.config_hash.substr(0, 16));
    checkpoint.sha256 = sha256(trial.config_hash);
    checkpoint.bytes = 1'000'000;
    checkpoint.role = "final";
    checkpoint.step = planned.steps;
    text += journal::to_json(checkpoint).dump() + "\n";
    journal::Ended ended;
    ended.time_ms = started.time_ms + kTrialMs;
    ended.state = "ok";
    ended.train_seconds = ended.step_seconds = static_cast<double>(kTrialMs) / 1000;
    ended.flops = planned.flops;
    ended.threads = 1;
    ended.waited_seconds = 0;
    return text + journal::to_json(ended).dump() + "\n";
}

std::vector<journal::Evaluation> evaluations(const experiments::ScoreRequest& request, double noise) {
    journal::Evaluation score;
    score.task = request.task;
    score.task_version = "1";
    score.split = "test";
    score.shots = request.shots;
    score.n = 500;
    score.score_key = request.key;
    score.standard_error = score.chance = std::numeric_limits<double>::quiet_NaN();
    const auto measure = [&](const char* metric, const char* unit, const char* better, double value) {
        journal::Evaluation one = score;
        one.metric = metric;
        one.unit = unit;
        one.better = better;
        one.value = value + noise;
        return one;
    };
    if (request.task == kValidationTask)
        return {measure("loss", "nats/token", "lower", 1.1), measure("bits_per_byte", "bits/byte", "lower", 1.3)};
    return {measure("acc", "", "higher", 0.5)};
}

std::string scoring_journal(const Trial& trial, std::int64_t number) {
    journal::Started started;
    started.time_ms = kStartMs + number * kTrialMs + kTrialMs;
    started.config_hash = trial.config_hash;
    std::string text = journal::to_json(started).dump() + "\n";
    for (const experiments::ScoreRequest& request : trial.scores) {
        const double noise = 0.01 * std::sin(static_cast<double>(number) + static_cast<double>(request.task.size()));
        for (journal::Evaluation& score : evaluations(request, noise)) {
            score.step = trial.projection.steps;
            text += journal::to_json(score).dump() + "\n";
        }
        journal::Scored scored;
        scored.score_key = request.key;
        scored.task = request.task;
        scored.task_sha256 = request.task_sha256;
        scored.shots = request.shots;
        scored.documents = request.documents;
        scored.step = trial.projection.steps;
        scored.model_sha256 = sha256(trial.config_hash);
        scored.seconds = 1;
        if (request.task != kValidationTask)
            scored.definition_sha256 =
                experiments::task_now(request.task, request.shots, trial.config.base_folder).definition_sha256;
        text += journal::to_json(scored).dump() + "\n";
    }
    journal::Ended ended;
    ended.time_ms = started.time_ms + 1000;
    ended.state = "ok";
    ended.eval_seconds = 1;
    ended.threads = 1;
    ended.waited_seconds = 0;
    return text + journal::to_json(ended).dump() + "\n";
}

// One attempt, from the journal that it would have left.
void store_attempt(results_db::Writer& writer, const RecordedSweep& recorded, std::size_t trial,
                   const results_db::NewAttempt& attempt, const std::filesystem::path& journal,
                   const std::string& text) {
    write_file_atomically(journal, text);
    const std::int64_t id = writer.begin_attempt(recorded.trial_ids[trial], recorded.code, recorded.host, attempt);
    writer.ingest(id, journal);
    results_db::Outcome outcome;
    outcome.state = "ok";
    outcome.exit_code = 0;
    const double seconds = attempt.work == results_db::Work::train ? static_cast<double>(kTrialMs) / 1000 : 1;
    outcome.own_seconds = attempt.work == results_db::Work::train ? seconds : 0;
    outcome.held_seconds = seconds + 0.1;
    outcome.ended_ms = kStartMs + (static_cast<std::int64_t>(trial) + 1) * kTrialMs;
    writer.end_attempt(id, outcome);
}

}  // namespace

std::filesystem::path write_finished_sweep(const std::filesystem::path& folder, const SweepSize& size) {
    const std::filesystem::path file = folder / (std::string(kFinishedSweep) + ".toml"),
                                journal = folder / "journal.jsonl";
    write_file_atomically(file, sweep_text(size));
    const Spec spec = load_spec(file);
    const std::vector<Trial> trials = expand(spec);
    results_db::Writer writer(database_in(folder), announced_lock());
    DriverOptions options;
    options.root = folder;
    const RecordedSweep recorded = record_sweep(writer, spec, trials, options);
    for (std::size_t i = 0; i < trials.size(); ++i) {
        const auto number = static_cast<std::int64_t>(i);
        results_db::NewAttempt attempt;
        attempt.uid = fmt::format("train{}", i);
        attempt.workdir = "runs/" + attempt.uid;
        attempt.price = spec.price;
        attempt.libraries_json = recorded.libraries_json;
        attempt.machine_json = recorded.machine_json;
        store_attempt(writer, recorded, i, attempt, journal, training_journal(trials[i], number, size.points));
        attempt.uid = fmt::format("score{}", i);
        attempt.workdir = "runs/" + attempt.uid;
        attempt.number = 2;
        attempt.work = results_db::Work::score;
        store_attempt(writer, recorded, i, attempt, journal, scoring_journal(trials[i], number));
    }
    return file;
}

}  // namespace deft::sweeps
