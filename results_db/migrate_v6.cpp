// Steps of the migration to version 6 that SQL cannot do: trainings that differ only in their evaluation become one.

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/score_key.h"
#include "results_db/connection.h"
#include "results_db/former_hashes.h"
#include "results_db/schema.h"

namespace deft::results_db {

namespace {

struct FormerTrial {
    std::int64_t id = 0;
    std::string config_hash, variant_hash, config_json;
};

// Oldest first.
std::vector<FormerTrial> all_trials(Connection& connection) {
    std::vector<FormerTrial> all;
    for (Statement query(connection, "SELECT id, config_hash, variant_hash, config_json FROM experiment ORDER BY id");
         query.step();)
        all.push_back({query.integer(0), query.text(1), query.text(2), query.text(3)});
    return all;
}

struct FormerScore {
    std::string task, task_sha256, key;
    std::int64_t documents = 0;
};

// A task was named, or a file of that name. Of a file whose task is called otherwise no score is found: it is scored
// again, by the next run.
std::string task_name(const std::string& named) {
    const std::string file = named.substr(named.rfind('/') + 1);
    return file.ends_with(".toml") ? file.substr(0, file.size() - 5) : file;
}

// The evaluation that an old configuration asked for, except the shots, which its scores record.
std::vector<FormerScore> asked_for(const Json& config) {
    std::vector<FormerScore> scores;
    const Json eval = config.is_object() ? config.value("eval", Json::object()) : Json::object();
    if (!eval.is_object()) return scores;
    const auto list = [&](const char* key) {
        const auto found = eval.find(key);
        return found != eval.end() && found->is_array() ? *found : Json::array();
    };
    const auto number = [&](const char* key, std::int64_t otherwise) {
        const auto found = eval.find(key);
        return found != eval.end() && found->is_number_integer() ? found->get<std::int64_t>() : otherwise;
    };
    if (eval.contains("validation_tokens"))
        scores.push_back({kValidationTask, kValidationTask, "", number("validation_tokens", 0)});
    const Json tasks = list("tasks"), hashes = list("task_sha256");
    for (std::size_t i = 0; i < tasks.size() && i < hashes.size(); ++i)
        if (tasks[i].is_string() && hashes[i].is_string())
            scores.push_back(
                {task_name(tasks[i].get<std::string>()), hashes[i].get<std::string>(), "", number("documents", 0)});
    return scores;
}

// The scores of attempts that ended well become scored tasks; returns them as their sweeps ask for them.
Json take_in_scores(Connection& connection, std::int64_t trial_id, const Json& config) {
    Json asked = Json::array();
    for (FormerScore& score : asked_for(config)) {
        Statement shots(connection,
                        "SELECT max(v.shots) FROM evaluation v JOIN attempt a ON a.id = v.attempt_id"
                        " WHERE a.experiment_id = ?1 AND v.task = ?2");
        shots.bind(trial_id, score.task).step();
        const std::int64_t count = shots.maybe_integer(0).value_or(0);
        shots.run();
        score.key = score_key(score.task_sha256, count, score.documents);
        const bool is_twice =
            std::any_of(asked.begin(), asked.end(), [&](const Json& one) { return one.at("key") == score.key; });
        if (is_twice) continue;
        asked.push_back({{"task", score.task}, {"shots", count}, {"key", score.key}});
        Statement(connection,
                  "UPDATE evaluation SET score_key = ?3 WHERE task = ?2 AND attempt_id IN"
                  " (SELECT id FROM attempt WHERE experiment_id = ?1 AND state = 'ok')")
            .bind(trial_id, score.task, score.key)
            .run();
        Statement(connection,
                  "INSERT INTO score (attempt_id, score_key, task, task_sha256, shots, documents, step, model_sha256)"
                  " SELECT a.id, ?3, ?2, ?4, ?5, ?6, max(v.step), ifnull((SELECT f.sha256 FROM attempt_artifact r"
                  "  JOIN artifact f ON f.id = r.artifact_id WHERE r.attempt_id = a.id AND f.kind = 'checkpoint'"
                  "  ORDER BY r.step DESC LIMIT 1), '')"
                  " FROM attempt a JOIN evaluation v ON v.attempt_id = a.id AND v.task = ?2"
                  " WHERE a.experiment_id = ?1 AND a.state = 'ok' GROUP BY a.id")
            .bind(trial_id, score.task, score.key, score.task_sha256, count, score.documents)
            .run();
    }
    return asked;
}

// Two lives of one trial are more than there may be; a newer one goes on with what it left.
void end_second_life(Connection& connection, std::int64_t from, std::int64_t to) {
    Statement(connection,
              "UPDATE attempt SET state = 'stale', fail_class = 'stale', ended_ms = ifnull(started_ms, created_ms),"
              " error = 'another attempt at the same training was under way'"
              " WHERE experiment_id = ?1 AND state IN ('leased','running')"
              " AND EXISTS (SELECT 1 FROM attempt b WHERE b.experiment_id = ?2 AND b.state IN ('leased','running'))")
        .bind(from, to)
        .run();
}

// All that belongs to the one belongs to the other afterwards.
void merge(Connection& connection, std::int64_t from, std::int64_t to) {
    end_second_life(connection, from, to);
    Statement(connection,
              "UPDATE attempt SET number = number + (SELECT ifnull(max(b.number), 0) FROM attempt b"
              "  WHERE b.experiment_id = ?2), experiment_id = ?2 WHERE experiment_id = ?1")
        .bind(from, to)
        .run();
    Statement(connection, "UPDATE OR IGNORE sweep_member SET experiment_id = ?2 WHERE experiment_id = ?1")
        .bind(from, to)
        .run();
    Statement(connection, "DELETE FROM sweep_member WHERE experiment_id = ?1").bind(from).run();
    Statement(connection, "UPDATE former_hash SET experiment_id = ?2 WHERE experiment_id = ?1").bind(from, to).run();
    Statement(connection, "DELETE FROM experiment WHERE id = ?1").bind(from).run();
}

}  // namespace

void finish_v6(Connection& connection) {
    std::map<std::string, std::int64_t> kept;     // by the new hash
    std::map<std::string, std::string> variants;  // the new hash by the former one
    for (const FormerTrial& former : all_trials(connection)) {
        const Json config = try_parse_json(former.config_json);
        const Json asked = take_in_scores(connection, former.id, config);
        Statement(connection, "UPDATE sweep_member SET scores_json = ?2 WHERE experiment_id = ?1")
            .bind(former.id, asked.dump())
            .run();
        const auto hashes = hashes_without_evaluation(config, former.config_hash);
        if (!hashes) continue;  // made by a program that nothing here can go on from
        variants[former.variant_hash] = hashes->variant;
        Statement(connection, "INSERT OR IGNORE INTO former_hash (config_hash, experiment_id) VALUES (?1, ?2)")
            .bind(former.config_hash, former.id)
            .run();
        const auto [same, is_new] = kept.emplace(hashes->config, former.id);
        if (is_new)
            Statement(connection, "UPDATE experiment SET config_hash = ?2, variant_hash = ?3 WHERE id = ?1")
                .bind(former.id, hashes->config, hashes->variant)
                .run();
        else
            merge(connection, former.id, same->second);
    }
    for (const auto& [former, variant] : variants)
        Statement(connection, "UPDATE baseline SET variant_hash = ?2 WHERE variant_hash = ?1")
            .bind(former, variant)
            .run();
    connection.execute(kTriggersV6);
}

}  // namespace deft::results_db
