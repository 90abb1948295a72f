#include "results_db/journal_rows.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <filesystem>
#include <span>

#include "base/json.h"
#include "results_db/compressed.h"
#include "results_db/expert_load_rows.h"
#include "results_db/nonfinite.h"
#include "results_db/record_row.h"
#include "results_db/tables.h"

namespace deft::results_db {

namespace {

constexpr std::int64_t kKeptSpent = 16;  // of an attempt

const std::vector<Column>& score_columns() {
    static const std::vector<Column> columns = joined({kScoredColumns, kScoredModelColumns, kScoringColumns});
    return columns;
}

}  // namespace

JournalRows::JournalRows(Connection& connection, std::int64_t attempt_id, const AttemptPosition& position)
    : connection_(connection),
      attempt_(attempt_id),
      code_(position.code_id),
      workdir_(position.workdir),
      config_hash_(position.config_hash),
      last_step_(position.last_step),
      point_(connection, ("INSERT INTO " + row_of<journal::TrainPoint>("train_point")).c_str()),
      forget_points_(connection, "DELETE FROM train_point WHERE attempt_id = ?1 AND step >= ?2"),
      forget_scores_(connection, "DELETE FROM evaluation WHERE attempt_id = ?1 AND step >= ?2"),
      add_metric_(connection, "INSERT INTO metric (name, unit, better) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING"),
      sampling_(connection, ("INSERT OR REPLACE INTO " + row_of<journal::Sampling>("sampling_point")).c_str()),
      forget_sampling_(connection, "DELETE FROM sampling_point WHERE attempt_id = ?1 AND step >= ?2"),
      experts_(connection, expert_load_insert().c_str()),
      forget_experts_(connection, "DELETE FROM expert_load WHERE attempt_id = ?1 AND step >= ?2"),
      score_(connection,
             "INSERT INTO evaluation (attempt_id, step, code_id, task, task_version, split, shots, metric_id, value,"
             " kind, n, stderr, chance, score_key) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, id, ?8, ?9, ?10, ?11, ?12, ?13"
             " FROM metric WHERE name = ?14 AND unit = ?15 AND better = ?16"
             " ON CONFLICT (attempt_id, step, task, task_version, split, shots, metric_id, code_id) DO UPDATE SET"
             " value = excluded.value, kind = excluded.kind, n = excluded.n, stderr = excluded.stderr,"
             " chance = excluded.chance, score_key = excluded.score_key"),
      scored_(connection,
              insert_into("score", "attempt_id, items", score_columns(), "INSERT OR REPLACE INTO").c_str()) {}

void JournalRows::add(const journal::TrainPoint& point) {
    if (point.step <= last_step_) {
        forget_points_.bind(attempt_, point.step).run();
        forget_scores_.bind(attempt_, point.step).run();
        forget_sampling_.bind(attempt_, point.step).run();
        forget_experts_.bind(attempt_, point.step).run();
    }
    last_step_ = point.step;
    bind_record(point_, attempt_, point);
    point_.run();
}

void JournalRows::add(const journal::Sampling& sampling) {
    bind_record(sampling_, attempt_, sampling);
    sampling_.run();
    epochs_ = sampling.epochs;
}

void JournalRows::add(const journal::ExpertLoad& load) {
    if (load.load.empty()) throw BadLine{"it is of a layer without experts"};
    bind_expert_load(experts_, attempt_, load);
    experts_.run();
}

void JournalRows::finish() {
    if (epochs_)
        Statement(connection_, "UPDATE attempt SET epochs_json = ?2 WHERE id = ?1")
            .bind(attempt_, Json(*epochs_).dump())
            .run();
}

void JournalRows::add(const journal::Evaluation& score) {
    add_metric_.bind(score.metric, score.unit, score.better).run();
    score_.bind(attempt_, score.step, code_, score.task, score.task_version, score.split, score.shots, score.value,
                kind_of(score.value), score.n, score.standard_error, score.chance, score.score_key, score.metric,
                score.unit, score.better);
    score_.run();
}

void JournalRows::add(const journal::Scored& scored) {
    const std::vector<std::byte> items = compressed(scored.items);
    scored_.bind(attempt_, items.empty() ? std::nullopt : std::optional(std::span<const std::byte>(items)));
    bind_row(scored_, 3, score_columns(), &scored);
    scored_.run();
}

void JournalRows::add(const journal::Artifact& artifact) {
    const std::string path = (std::filesystem::path(workdir_) / artifact.path).lexically_normal().string();
    Statement(connection_,
              "INSERT INTO artifact (sha256, bytes, kind, path) VALUES (?1, ?2, ?3, ?4)"
              " ON CONFLICT (sha256, path) DO UPDATE SET present = 1")
        .bind(artifact.sha256, artifact.bytes, artifact.kind, path)
        .run();
    Statement(connection_,
              "INSERT INTO attempt_artifact (attempt_id, artifact_id, role, step)"
              " SELECT ?1, id, ?2, ?3 FROM artifact WHERE sha256 = ?4 AND path = ?5 ON CONFLICT DO NOTHING")
        .bind(attempt_, artifact.role, artifact.step, artifact.sha256, path)
        .run();
}

void JournalRows::add(const journal::Started& started) {
    if (!started.config_hash.empty() && started.config_hash != config_hash_)
        throw AnotherTrial{
            fmt::format("the journal is of configuration {}, the attempt of {}", started.config_hash, config_hash_)};
    std::optional<std::int64_t> dataset;
    if (!started.dataset_name.empty() || !started.dataset_sha256.empty()) {
        const Dataset row{started.dataset_sha256, started.dataset_name, started.dataset_bytes, started.dataset_tokens};
        Statement insert(
            connection_,
            (insert_into("dataset", "", kDatasetColumns) + " ON CONFLICT (sha256, name) DO NOTHING").c_str());
        bind_row(insert.bind(), 1, kDatasetColumns, &row);
        insert.run();
        Statement find(connection_, "SELECT id FROM dataset WHERE sha256 = ?1 AND name = ?2");
        find.bind(started.dataset_sha256, started.dataset_name);
        if (find.step()) dataset = find.integer(0);
    }
    Statement(connection_,
              "UPDATE attempt SET dataset_id = ?2, total_steps = ?3, parameters = ?4,"
              " started_ms = ifnull(started_ms, ?5), resume_step = ?6,"
              " resumed_from = CASE WHEN ?6 > 0 THEN (SELECT b.id FROM attempt b WHERE b.number < attempt.number"
              "  AND b.experiment_id = attempt.experiment_id AND b.resume_step IS NOT NULL"
              "  AND b.kind = 'train' ORDER BY b.number DESC LIMIT 1) END, active_parameters = ?7,"
              // A run that resumes from a checkpoint starts from nothing else: the earlier values remain.
              " start_note = CASE WHEN ?6 > 0 THEN start_note ELSE ?8 END WHERE id = ?1")
        .bind(attempt_, dataset, started.total_steps, started.parameters, started.time_ms, started.resume_step,
              started.active_parameters, started.start_note)
        .run();
}

void JournalRows::add(const journal::Ended& ended) {
    Statement(connection_,
              "UPDATE attempt SET train_seconds = ?2, eval_seconds = ?3, threads = ?4, cpu_seconds = ?5,"
              " peak_rss_bytes = ?6, waited_seconds = ?7 WHERE id = ?1")
        .bind(attempt_, ended.train_seconds, ended.eval_seconds, ended.threads, ended.cpu_seconds, ended.peak_rss_bytes,
              ended.waited_seconds >= 0 ? std::optional(ended.waited_seconds) : std::nullopt)
        .run();
}

void JournalRows::add(const journal::Spent& spent) {
    for (const double seconds : {spent.train_seconds, spent.eval_seconds, spent.waited_seconds})
        if (!std::isfinite(seconds) || seconds < 0) throw BadLine{"it has an invalid time"};
    Statement(connection_,
              "INSERT OR REPLACE INTO spent (attempt_id, step, elapsed_seconds, train_seconds, eval_seconds,"
              " waited_seconds) SELECT ?1, ?2, max(0, ?3 - ifnull(started_ms, ?3)) / 1000.0, ?4, ?5, ?6"
              " FROM attempt WHERE id = ?1")
        .bind(attempt_, spent.step, spent.time_ms, spent.train_seconds, spent.eval_seconds, spent.waited_seconds)
        .run();
    // Older checkpoints are gone, and nobody goes on from them.
    Statement(connection_,
              "DELETE FROM spent WHERE attempt_id = ?1 AND step <="
              " (SELECT step FROM spent WHERE attempt_id = ?1 ORDER BY step DESC LIMIT 1 OFFSET ?2)")
        .bind(attempt_, kKeptSpent)
        .run();
}

}  // namespace deft::results_db
