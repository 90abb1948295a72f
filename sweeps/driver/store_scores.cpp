#include "sweeps/driver/store_scores.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/files.h"
#include "base/json.h"
#include "base/score_key.h"
#include "base/text.h"
#include "experiments/score_trial.h"
#include "results_db/host_key.h"
#include "results_db/open.h"
#include "results_db/writer.h"
#include "sweeps/driver/adoption.h"
#include "sweeps/driver/announced_lock.h"
#include "sweeps/driver/children.h"
#include "sweeps/driver/provenance.h"
#include "sweeps/driver/record_sweep.h"
#include "sweeps/driver/recovery.h"
#include "sweeps/driver/root.h"
#include "sweeps/driver/signals.h"

namespace deft::sweeps {

namespace {

namespace fs = std::filesystem;

Trial trial_of(const results_db::StoredTrial& row, const experiments::TrialConfig& config) {
    Trial trial;
    trial.ordinal = row.ordinal;
    trial.recipe = row.recipe;
    trial.axes = try_parse_json(row.axes_json);
    trial.seed = row.seed;
    trial.config = config;
    trial.config_hash = row.config_hash;
    trial.variant_hash = row.variant_hash;
    trial.label = row.label;
    for (experiments::ScoreRequest& request : experiments::score_requests(config))
        if (request.task != kValidationTask) trial.scores.push_back(std::move(request));
    return trial;
}

}  // namespace

StoredScores store_scores(const fs::path& root, const results_db::StoredTrial& row,
                          const experiments::TrialConfig& config, const experiments::TrialSlot& slot) {
    constexpr int kOrphanGraceMs = 3000;
    const SignalWatch signals;
    results_db::Writer writer(database_file(root), announced_lock());
    StoredScores stored;
    stored.said = recover(writer, root, kOrphanGraceMs, queued_attempts(writer.live_attempts()));
    const std::int64_t trial_id = writer.trial_of(row.config_hash);
    if (!writer.is_trained(trial_id))
        throw Error(ErrorKind::missing,
                    fmt::format("trial {} has not been trained to its end", short_hash(row.config_hash)),
                    "deft run resumes it; an intermediate checkpoint is evaluated by its folder, without --store",
                    "the results database");
    const Trial trial = trial_of(row, config);
    Assignment assignment{results_db::Work::score, {}, writer.unscored(trial_id, trial.score_keys())};
    stored.known = trial.scores.size() - assignment.keys.size();
    if (assignment.keys.empty()) return stored;
    const auto checkpoint = checkpoint_to_score(writer, root, trial_id);
    if (!checkpoint)
        throw Error(ErrorKind::missing, fmt::format("the checkpoint of {} is gone", row.config_hash.substr(0, 12)),
                    "deft run SWEEP --set eval.tasks=... --retrain trains it again, and scores it",
                    "the results database");
    assignment.checkpoint = *checkpoint;

    results_db::NewAttempt attempt;
    attempt.work = results_db::Work::score;
    attempt.uid = results_db::random_uid();
    attempt.number = writer.next_attempt_number(trial_id);
    const fs::path folder = free_run_folder(root, row.config_hash, attempt.number);
    make_folder(folder);
    attempt.worker = "deft eval";
    attempt.argv_json = canonical_json(Json::array({"deft", "eval", row.config_hash, "--store"}));
    attempt.workdir = "runs/" + folder.filename().string();
    attempt.shape.device = engine::device_name(slot.device);
    attempt.shape.devices = slot.device == engine::Device::cpu ? slot.threads : 1;
    attempt.libraries_json = canonical_json(libraries_json());
    const results_db::Code code = describe_code();
    const results_db::Host host = describe_host();
    attempt.machine_json = results_db::machine_json(host);
    write_trial_file(trial, "", attempt, {{"code", code_json(code)}, {"host", host_json(host)}},
                     {folder, data_folder(root), checkpoint->parent_path(), false}, assignment, slot);
    const std::int64_t id = writer.begin_attempt(trial_id, writer.add_code(code), writer.add_host(host), attempt);
    writer.set_running(id, identify(::getpid()), now_ms());

    const Clock::time_point start = Clock::now();
    stored.exit_code = experiments::score_trial(config, assignment.keys, {folder, data_folder(root), *checkpoint}, slot,
                                                [&] { return signals.terminated() || signals.interrupts() > 0; });
    const JournalSummary journal = ingest_rest(writer, id, folder / "journal.jsonl");
    results_db::Outcome outcome = outcome_of(journal, "it ended without a word");
    outcome.held_seconds = seconds_since(start);
    record_end(writer, id, folder, outcome, journal);
    stored.scored = assignment.keys.size() - writer.unscored(trial_id, assignment.keys).size();
    return stored;
}

}  // namespace deft::sweeps
