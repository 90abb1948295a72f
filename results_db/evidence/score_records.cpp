#include "results_db/evidence/score_records.h"

#include <fmt/format.h>

#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/journal.h"
#include "base/json.h"
#include "base/score_key.h"
#include "results_db/evidence/columns.h"
#include "results_db/evidence/journal_record.h"
#include "results_db/evidence/local_paths.h"
#include "results_db/evidence/possible_values.h"
#include "results_db/journal_rows.h"
#include "results_db/nonfinite.h"
#include "results_db/tables.h"

namespace deft::results_db {

namespace {

constexpr std::array kCheckpoint = {
    Column{"sha256", Holds::sha256},
    Column{"bytes", Holds::count},
    Column{"kind", Holds::name},
    Column{"path", Holds::text},
};
constexpr std::array kRole = {Column{"role", Holds::text, nullptr, Absent::empty}, Column{"step", Holds::integer}};

Json real_or_word(double value) {
    constexpr const char* kWords[] = {"", "NaN", "Infinity", "-Infinity"};
    const std::int64_t kind = kind_of(value);
    return kind == 0 ? Json(value) : Json(kWords[kind]);
}

Json real_or_null(const Statement& row, int column) {
    return row.is_null(column) ? Json() : Json(row.real(column));
}

const Json& array_at(const Json& record, const char* key) {
    const auto found = record.find(key);
    if (found == record.end() || !found->is_array()) throw BadRecord{fmt::format("it has no array '{}'", key)};
    return *found;
}

const Json& value_at(const Json& object, const char* key) {
    if (!object.is_object() || !object.contains(key)) throw BadRecord{fmt::format("it has no '{}'", key)};
    return object.at(key);
}

// A task is named, and its file looked for by that name.
void require_task_name(const Json& of) {
    if (!stays_below(text_at(of, "task")))
        throw BadRecord{fmt::format("the 'task' of a score leads elsewhere: {}", text_at(of, "task"))};
}

void store_result(JournalRows& rows, const Json& result, const SharedValues& shared) {
    const Json& of = shared.at(value_at(result, "of"));
    require_columns(of, kScoredTaskColumns, {"measures"});
    require_task_name(of);
    const Json &measures = array_at(of, "measures"), &values = array_at(result, "values");
    if (result.size() != 3 || measures.size() != values.size())
        throw BadRecord{"a result has not one value for each measure"};
    const Json unknown = "NaN";
    for (std::size_t i = 0; i < values.size(); ++i) {
        const Json &measure = measures[i], &value = values[i];
        if (!measure.is_array() || measure.size() != 5)
            throw BadRecord{"a measure is not its name, unit, direction, count and chance"};
        if (!value.is_array() || value.size() != 2) throw BadRecord{"a result is not its value and standard error"};
        Json fields = {{"step", value_at(result, "step")},
                       {"metric", measure[0]},
                       {"unit", measure[1]},
                       {"better", measure[2]},
                       {"value", value[0]},
                       {"n", measure[3]},
                       {"standard_error", value[1].is_null() ? unknown : value[1]},
                       {"chance", measure[4].is_null() ? unknown : measure[4]},
                       {"task_version", ""},
                       {"split", ""},
                       {"score_key", ""}};
        for (const auto& [key, item] : of.items())
            if (key != "measures") fields[key] = item;
        const auto score = journal_record<journal::Evaluation>(std::move(fields));
        require_possible(score);
        rows.add(score);
    }
}

// The tasks that one model was scored by.
void store_scored(Connection& connection, std::int64_t attempt_id, const Json& scored, const SharedValues& shared,
                  std::set<std::string>& keys) {
    require_columns(scored, kScoredModelColumns, {"tasks"});
    Statement insert(
        connection,
        insert_into("score", "attempt_id", joined({kScoredColumns, kScoredModelColumns, kScoringColumns})).c_str());
    for (const Json& task : array_at(scored, "tasks")) {
        require_columns(task, kScoringColumns, {"of"});
        const Json& of = shared.at(value_at(task, "of"));
        if (!keys.insert(text_at(of, "score_key")).second)
            throw BadRecord{fmt::format("its 'scored' has the task {} twice", text_at(of, "task"))};
        require_columns(of, kScoredColumns);
        require_task_name(of);
        insert.bind(attempt_id);
        constexpr int kTaskEnd = 2 + static_cast<int>(kScoredColumns.size());
        bind_columns(insert, 2, of, kScoredColumns);
        bind_columns(insert, kTaskEnd, scored, kScoredModelColumns);
        bind_columns(insert, kTaskEnd + static_cast<int>(kScoredModelColumns.size()), task, kScoringColumns);
        insert.run();
    }
}

void store_checkpoint(JournalRows& rows, const Json& checkpoint) {
    std::vector<Column> columns(kCheckpoint.begin(), kCheckpoint.end());
    columns.insert(columns.end(), kRole.begin(), kRole.end());
    require_columns(checkpoint, columns);
    if (const std::string& path = text_at(checkpoint, "path"); path.empty() || !stays_below(path))
        throw BadRecord{fmt::format("a checkpoint's path leads elsewhere: {}", path)};
    Json fields = {{"role", ""}};
    fields.update(checkpoint);
    rows.add(journal_record<journal::Artifact>(std::move(fields)));
}

}  // namespace

Json result_records(Connection& connection, std::int64_t attempt_id, SharedValues& shared) {
    Statement query(connection,
                    ("SELECT " + column_names(kScoredTaskColumns, "v") +
                     ", v.step, m.name, m.unit, m.better, v.value, v.kind, v.n, v.stderr, v.chance"
                     " FROM evaluation v JOIN metric m ON m.id = v.metric_id WHERE v.attempt_id = ?1"
                     " AND v.score_key <> ?2 ORDER BY v.score_key, v.task, v.task_version, v.split, v.shots,"
                     " v.step, m.name, m.unit, m.better")
                        .c_str());
    query.bind(attempt_id, kWhileTraining);
    std::vector<Json> tasks, steps, values;  // side by side
    while (query.step()) {
        const int step = static_cast<int>(kScoredTaskColumns.size());
        Json task = object_of(query, 0, kScoredTaskColumns);
        const Json before = tasks.empty() ? Json() : [&] {
            Json last = tasks.back();
            last.erase("measures");
            return last;
        }();
        if (tasks.empty() || before != task || steps.back() != query.integer(step)) {
            task["measures"] = Json::array();
            tasks.push_back(std::move(task));
            steps.emplace_back(query.integer(step));
            values.push_back(Json::array());
        }
        tasks.back()["measures"].push_back({query.text(step + 1), query.text(step + 2), query.text(step + 3),
                                            query.integer(step + 6), real_or_null(query, step + 8)});
        values.back().push_back(
            {real_or_word(restore(query.real(step + 4), query.integer(step + 5))), real_or_null(query, step + 7)});
    }
    Json records = Json::array();
    for (std::size_t i = 0; i < tasks.size(); ++i)
        records.push_back(
            {{"of", shared.add(std::move(tasks[i]))}, {"step", steps[i]}, {"values", std::move(values[i])}});
    return records;
}

Json scored_records(Connection& connection, std::int64_t attempt_id, SharedValues& shared) {
    Statement query(connection, ("SELECT " + column_names(kScoredColumns, "s") + ", " +
                                 column_names(kScoredModelColumns, "s") + ", " + column_names(kScoringColumns, "s") +
                                 " FROM score s WHERE s.attempt_id = ?1 ORDER BY s.model_sha256, s.step, s.score_key")
                                    .c_str());
    query.bind(attempt_id);
    constexpr int kTaskEnd = static_cast<int>(kScoredColumns.size()),
                  kModelEnd = kTaskEnd + static_cast<int>(kScoredModelColumns.size());
    std::vector<Json> models;  // of the records, which hold their tasks besides
    Json records = Json::array();
    while (query.step()) {
        Json model = object_of(query, kTaskEnd, kScoredModelColumns),
             task = object_of(query, kModelEnd, kScoringColumns);
        task["of"] = shared.add(object_of(query, 0, kScoredColumns));
        if (records.empty() || models.back() != model) {
            models.push_back(model);
            model["tasks"] = Json::array();
            records.push_back(std::move(model));
        }
        records.back()["tasks"].push_back(std::move(task));
    }
    return records;
}

Json checkpoint_records(Connection& connection, std::int64_t attempt_id) {
    Statement query(connection, ("SELECT " + column_names(kCheckpoint, "f") + ", " + column_names(kRole, "r") +
                                 " FROM attempt_artifact r JOIN artifact f ON f.id = r.artifact_id"
                                 " WHERE r.attempt_id = ?1 AND f.kind = 'checkpoint'"
                                 " ORDER BY r.step, r.role, f.path, f.sha256")
                                    .c_str());
    query.bind(attempt_id);
    Json records = Json::array();
    while (query.step()) {
        records.push_back(object_of(query, 0, kCheckpoint));
        records.back().update(object_of(query, static_cast<int>(kCheckpoint.size()), kRole));
    }
    return records;
}

void store_results(Connection& connection, std::int64_t attempt_id, std::int64_t code_id, const Json& record,
                   const SharedValues& shared) {
    AttemptPosition position;
    position.code_id = code_id;
    JournalRows rows(connection, attempt_id, position);
    const auto each = [&](const char* key, const auto& store) {
        if (!record.contains(key)) return;
        for (const Json& one : array_at(record, key)) store(one);
    };
    each("results", [&](const Json& one) { store_result(rows, one, shared); });
    std::set<std::string> keys;
    each("scored", [&](const Json& one) { store_scored(connection, attempt_id, one, shared, keys); });
    each("checkpoints", [&](const Json& one) { store_checkpoint(rows, one); });
}

}  // namespace deft::results_db
