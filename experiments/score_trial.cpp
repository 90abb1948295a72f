#include "experiments/score_trial.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/journal.h"
#include "base/score_key.h"
#include "base/stopwatch.h"
#include "engine/comm/require_same.h"
#include "experiments/engine_config.h"
#include "experiments/evaluate_checkpoint.h"
#include "experiments/evaluation/evaluate_task.h"
#include "experiments/evaluation/validation.h"
#include "experiments/heartbeat.h"

namespace deft::experiments {

namespace {

std::vector<ScoreRequest> wanted_requests(const TrialConfig& config, std::span<const std::string> keys) {
    std::vector<ScoreRequest> wanted;
    for (ScoreRequest& request : score_requests(config))
        if (std::find(keys.begin(), keys.end(), request.key) != keys.end()) wanted.push_back(std::move(request));
    return wanted;
}

// The task as it was when the scoring was planned.
Task planned_task(const ScoreRequest& request, const TrialConfig& config) {
    Task task = with_shots(load_task(request.task, config.base_folder), request.shots);
    if (task_sha256(task) != request.task_sha256)
        throw Error(ErrorKind::config,
                    fmt::format("task {} or its records have changed since this evaluation was planned", request.task),
                    "run the same command again: it plans with the current files", "the scores of other tasks");
    return task;
}

TrainedModel load_model(const TrialConfig& config, const ScoringPlaces& places, const TrialSlot& slot) {
    TrainedModel trained = load_trained_model(places.checkpoint, backend_of(config, slot.device, slot.threads),
                                              scores_under_capacity(config.eval));
    if (trained.config_hash != config_hash(config))
        throw Error(ErrorKind::config, fmt::format("checkpoint {} is of another training", places.checkpoint.string()));
    return trained;
}

journal::Started started_with(const TrialConfig& config, const TrainedModel& trained,
                              Clock::time_point process_started) {
    journal::Started started;
    started.time_ms = now_ms();
    started.start_seconds = seconds_since(process_started);
    started.pid = getpid();
    started.config_hash = config_hash(config);
    started.total_steps = trained.step;
    started.resume_step = trained.step;
    started.parameters = trained.model->parameters().count();
    return started;
}

// False: stopped before its end.
bool score_all(const TrialConfig& config, std::span<const std::string> keys, const ScoringPlaces& places,
               const TrialSlot& slot, journal::Writer& journal, const std::function<bool()>& stop,
               journal::Ended& ended) {
    meet_ranks(slot, ended.waited_seconds, [&] {
        engine::require_same(slot.ranks, "the configuration's hash", config_hash(config),
                             "give all ranks the same run folder");
    });
    const std::vector<ScoreRequest> requests = wanted_requests(config, keys);
    TrainedModel trained = load_model(config, places, slot);
    journal.write(started_with(config, trained, slot.started));

    Heartbeat heartbeat(journal, stop);
    heartbeat.begin("scoring", longest_step_seconds(project(config), slot));
    const BatchLoop loop{[&] { heartbeat.beat_or_stop(); }, slot.ranks};
    const std::int64_t batch = config.train.micro_batch_size;
    for (const ScoreRequest& request : requests) {
        const Clock::time_point start = Clock::now();
        journal::Scored scored{request.key,       request.task, request.task_sha256, request.shots,
                               request.documents, trained.step, trained.model_sha256};
        scored.scoring_version = kScoringVersion;
        std::vector<journal::Evaluation> scores;
        double waited = 0;
        try {
            if (request.task == kValidationTask) {
                const Dataset dataset =
                    load_dataset(config.data, config.model.seqlen, config.base_folder, places.data_folder);
                waited = dataset.waited_seconds;
                scores = validation_scores(dataset, *trained.model, trained.exec, request.documents, batch,
                                           trained.step, loop);
            } else {
                const Task task = planned_task(request, config);
                scored.task = task.name;
                scored.definition_sha256 = definition_sha256(task);
                TaskResult result = evaluate_task(
                    task, {text_tokenizer(trained), *trained.model, trained.exec, trained.backend, batch,
                           request.documents, config.data.embedded_seed, config.base_folder, trained.step, loop});
                scores = std::move(result.scores);
                scored.items = items_text(result.items);
                scored.cut_share = result.cut_share;
                scored.mean_shots = result.mean_shots;
            }
        } catch (const StopAsked&) {
            return false;
        }
        scored.seconds = seconds_since(start) - waited;
        ended.eval_seconds += scored.seconds;
        ended.waited_seconds += waited;
        for (journal::Evaluation& score : scores) {
            score.score_key = request.key;
            journal.write(score);
        }
        journal.write(scored);
        journal.write(journal::Spent{now_ms(), trained.step, 0, ended.eval_seconds, ended.waited_seconds});
        journal.sync();
    }
    return true;
}

}  // namespace

int score_trial(const TrialConfig& config, std::span<const std::string> keys, const ScoringPlaces& places,
                const TrialSlot& slot, const std::function<bool()>& stop) {
    return run_attempt(places.run_folder, slot, [&](journal::Writer& journal, journal::Ended& ended) {
        return score_all(config, keys, places, slot, journal, stop, ended);
    });
}

}  // namespace deft::experiments
