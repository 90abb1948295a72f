#include "results_db/score_rows.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "base/json.h"
#include "base/score_key.h"
#include "results_db/compressed.h"
#include "results_db/nonfinite.h"
#include "results_db/tables.h"

namespace deft::results_db {

namespace {

const std::string kScoreQuery =
    "SELECT " + column_names(kScoredTaskColumns, "v") + ", " + column_names(kMetricColumns, "m") + ", " +
    column_names(kEvaluationColumns, "v") + ", " + column_names(kScoredColumns, "s") + ", " +
    column_names(kScoredModelColumns, "s") + ", " + column_names(kScoringColumns, "s") +
    ", v.value, v.kind, c.git_sha, a.uid"
    " FROM attempt a CROSS JOIN evaluation v ON v.attempt_id = a.id JOIN metric m ON m.id = v.metric_id"
    " JOIN code c ON c.id = v.code_id LEFT JOIN score s ON s.attempt_id = a.id AND s.score_key = v.score_key"
    " WHERE a.experiment_id = ?1 AND (s.id IS NOT NULL OR a.kind = 'train') AND v.score_key <> ?2"
    " ORDER BY v.task, v.split, v.shots, m.name, m.unit, m.better, a.kind = 'score' OR a.state = 'ok',"
    " a.number, v.step, v.task_version";

ScoreRow read_score(const Statement& query) {
    ScoreRow score;
    int next = read_row(query, 0, kScoredTaskColumns, &score);
    next = read_row(query, next, kMetricColumns, &score);
    next = read_row(query, next, kEvaluationColumns, &score);
    journal::Scored scored;
    next = read_row(query, next, kScoredColumns, &scored);
    next = read_row(query, next, kScoredModelColumns, &scored);
    next = read_row(query, next, kScoringColumns, &scored);
    score.task_sha256 = scored.task_sha256;
    score.definition_sha256 = scored.definition_sha256;
    score.scoring_version = scored.scoring_version;
    score.model_sha256 = scored.model_sha256;
    score.cut_share = scored.cut_share;
    score.mean_shots = scored.mean_shots;
    score.value = restore(query.real(next), query.integer(next + 1));
    score.git_sha = query.text(next + 2);
    score.attempt_uid = query.text(next + 3);
    return score;
}

}  // namespace

std::optional<Checkpoint> result_checkpoint(Connection& connection, std::int64_t trial_id) {
    // With LIMIT, SQLite would sort these few rows in a table of its own, which takes longer.
    Statement query(connection,
                    "SELECT e.config_hash, f.path, f.sha256, r.step, f.bytes, r.role FROM attempt a"
                    " JOIN experiment e ON e.id = a.experiment_id JOIN attempt_artifact r ON r.attempt_id = a.id"
                    " JOIN artifact f ON f.id = r.artifact_id WHERE a.experiment_id = ?1 AND a.kind = 'train'"
                    " AND a.state = 'ok' AND f.kind = 'checkpoint' ORDER BY a.number DESC, r.step DESC");
    if (!query.bind(trial_id).step()) return std::nullopt;
    return Checkpoint{query.text(0), query.text(1), query.text(2), query.integer(3), query.integer(4), query.text(5)};
}

std::vector<std::string> unscored_keys(Connection& connection, std::int64_t trial_id,
                                       const std::optional<Checkpoint>& model, const std::vector<std::string>& keys) {
    // A model that was trained again may have other bits; scores of the one before are not of it.
    const std::string sha256 = model ? model->sha256 : "";
    Statement query(connection,
                    "SELECT s.score_key FROM attempt a CROSS JOIN score s ON s.attempt_id = a.id"
                    " WHERE a.experiment_id = ?1 AND (s.model_sha256 = '' OR s.model_sha256 = ?2 OR ?2 = '')");
    query.bind(trial_id, sha256);
    std::set<std::string> scored;
    while (query.step()) scored.insert(query.text(0));
    std::vector<std::string> missing;
    for (const std::string& key : keys)
        if (!scored.contains(key)) missing.push_back(key);
    return missing;
}

std::vector<AskedScore> asked_scores(Connection& connection, std::int64_t trial_id,
                                     const std::optional<Checkpoint>& model, const std::string& json) {
    std::vector<AskedScore> all;
    const Json asked = try_parse_json(json);
    if (!asked.is_array()) return all;
    for (const Json& one : asked) {
        if (!one.is_object() || !one.contains("task") || !one["task"].is_string() || !one.contains("key") ||
            !one["key"].is_string() || !one.contains("shots") || !one["shots"].is_number_integer())
            continue;
        all.push_back(
            {one["task"].get<std::string>(), one["shots"].get<std::int64_t>(), one["key"].get<std::string>(), true});
    }
    std::vector<std::string> keys;
    for (const AskedScore& score : all) keys.push_back(score.key);
    for (const std::string& missing : unscored_keys(connection, trial_id, model, keys))
        for (AskedScore& score : all)
            if (score.key == missing) score.is_scored = false;
    return all;
}

std::vector<ScoreRow> scores_of(Connection& connection, std::int64_t trial_id, const std::optional<Checkpoint>& model,
                                const std::vector<AskedScore>& asked) {
    Statement query(connection, kScoreQuery.c_str());
    query.bind(trial_id, kWhileTraining);
    std::vector<ScoreRow> scores;
    std::pair<bool, bool> last_rank;  // whether it was asked for, and is of the model that is the result now
    while (query.step()) {
        ScoreRow score = read_score(query);
        const bool is_asked =
            std::any_of(asked.begin(), asked.end(), [&](const AskedScore& one) { return one.key == score.score_key; });
        const std::pair rank(is_asked, !model || score.model_sha256.empty() || score.model_sha256 == model->sha256);
        const auto measure = [](const ScoreRow& row) {
            return std::tie(row.task, row.split, row.shots, row.measure, row.unit, row.better);
        };
        if (!scores.empty() && measure(scores.back()) == measure(score)) {
            if (rank < last_rank) continue;
            scores.pop_back();
        }
        scores.push_back(std::move(score));
        last_rank = rank;
    }
    return scores;
}

std::string items_of(Connection& connection, const std::string& config_hash, const std::string& task,
                     std::int64_t shots, const std::string* score_key) {
    Statement query(connection,
                    "SELECT s.items FROM score s JOIN attempt a ON a.id = s.attempt_id"
                    " JOIN experiment e ON e.id = a.experiment_id WHERE e.config_hash = ?1 AND s.task = ?2"
                    " AND s.shots = ?3 AND (?5 = 0 OR s.score_key = ?4) AND s.items IS NOT NULL"
                    " ORDER BY a.number DESC LIMIT 1");
    query.bind(config_hash, task, shots, score_key == nullptr ? std::string() : *score_key,
               static_cast<std::int64_t>(score_key != nullptr));
    if (!query.step()) return {};
    return decompressed(query.blob(0));
}

}  // namespace deft::results_db
