#include "experiments/trial.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>

#include "base/journal.h"
#include "engine/train/trainer.h"
#include "experiments/datasets/load.h"
#include "experiments/engine_config.h"
#include "experiments/evaluation/evaluate.h"
#include "experiments/projection.h"

namespace deft::experiments {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

std::int64_t now_ms() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

constexpr std::int64_t kLeaseMs = 60'000;

const char* fail_class_of(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::nonfinite:
            return "nan";
        case ErrorKind::memory:
            return "oom_host";
        case ErrorKind::io:
            return "io";
        case ErrorKind::usage:
        case ErrorKind::config:
            return "config";
        case ErrorKind::missing:
        case ErrorKind::database:
            return "other";
    }
    return "other";
}

// Trains to the budget, with a journal line every log_every steps and at the end.
void train(const TrialConfig& config, engine::Trainer& trainer, journal::Writer& journal, journal::Ended& ended) {
    const Clock::time_point start = Clock::now();
    Clock::time_point last_lease = start;
    double logged_at = 0;
    std::int64_t logged_tokens = 0;
    while (!trainer.done()) {
        const engine::StepResult result = trainer.step();
        const engine::Counts& counts = trainer.counts();
        ended.train_seconds = seconds_since(start);
        if (counts.steps % config.log_every == 0 || trainer.done()) {
            journal::TrainPoint point;
            point.step = counts.steps;
            point.input_tokens = counts.input_tokens;
            point.unique_tokens = trainer.unique_tokens();
            point.layer_tokens = counts.layer_tokens;
            point.flops = counts.flops;
            point.wall_ms = static_cast<std::int64_t>(ended.train_seconds * 1000);
            point.loss = result.loss;
            point.lr = result.lr;
            point.grad_norm = result.grad_norm;
            point.tokens_per_second = static_cast<double>(counts.input_tokens - logged_tokens) /
                                      std::max(1e-9, ended.train_seconds - logged_at);
            point.seqlen = result.plan.seqlen;
            point.kept_tokens = result.plan.kept;
            journal.write(point);
            logged_at = ended.train_seconds;
            logged_tokens = counts.input_tokens;
        }
        if (seconds_since(last_lease) > 10) {
            journal.write(journal::Lease{now_ms(), now_ms() + kLeaseMs});
            last_lease = Clock::now();
        }
    }
}

void run(const TrialConfig& config, int threads, journal::Writer& journal, journal::Ended& ended) {
    const Dataset dataset = load_dataset(config.data, config.base_folder);
    if (dataset.sha256 != config.data.sha256)
        throw Error(ErrorKind::config,
                    fmt::format("the corpus has changed since this trial was planned: hash {} where {} was planned",
                                dataset.sha256.substr(0, 12), config.data.sha256.substr(0, 12)),
                    "run the sweep again: it plans with the corpus as it is now");
    if (dataset.train.samples(config.model.seqlen) < 1)
        throw Error(ErrorKind::config,
                    fmt::format("the training text of {} tokens is shorter than one sample of {}",
                                dataset.train.tokens.size(), config.model.seqlen),
                    "supply more text or lower model.seqlen");

    const Projection projection = project(config);
    journal::Started started;
    started.time_ms = now_ms();
    started.pid = getpid();
    started.dataset_name = dataset.name;
    started.dataset_sha256 = dataset.sha256;
    started.dataset_bytes = dataset.train.bytes;
    started.dataset_tokens = static_cast<std::int64_t>(dataset.train.tokens.size());
    started.total_steps = projection.steps;
    started.parameters = projection.parameters;
    started.config_hash = config_hash(config);
    journal.write(started);

    engine::Trainer trainer(trainer_config(config), dataset.train, threads);
    train(config, trainer, journal, ended);

    journal.write(journal::Lease{now_ms(), now_ms() + kLeaseMs});
    const Clock::time_point start = Clock::now();
    const auto scores = evaluate(config, dataset, trainer.model(), trainer.exec(), config.train.micro_batch_size,
                                 trainer.counts().steps);
    for (const journal::Evaluation& score : scores) journal.write(score);
    ended.eval_seconds = seconds_since(start);
}

void fill_usage(journal::Ended& ended) {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    ended.peak_rss_bytes = usage.ru_maxrss * 1024;
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    ended.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    ended.time_ms = now_ms();
}

}  // namespace

int run_trial(const TrialConfig& config, const std::filesystem::path& run_folder, int threads) {
    journal::Writer journal(run_folder / "journal.jsonl");
    journal::Ended ended;
    ended.threads = threads;
    ended.state = "ok";
    try {
        run(config, threads, journal, ended);
    } catch (const Error& error) {
        ended.state = "failed";
        ended.fail_class = fail_class_of(error.kind());
        ended.error = error.what();
    } catch (const std::bad_alloc&) {
        ended.state = "failed";
        ended.fail_class = "oom_host";
        ended.error = "out of memory";
    }
    fill_usage(ended);
    journal.write(ended);
    journal.sync();
    if (ended.state == "ok") return kExitOk;
    fmt::print(stderr, "{}\n", ended.error);
    return kExitFailed;
}

}  // namespace deft::experiments
