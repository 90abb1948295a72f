#include "results_db/verify/row_texts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/sha256.h"
#include "base/text.h"
#include "results_db/compressed.h"

namespace deft::results_db {

namespace {

constexpr const char* kScores = "score";

// quote() gives a number all of its digits, and an empty text is not NULL.
std::string quoted(const std::vector<std::string>& columns) {
    std::vector<std::string> parts;
    for (const std::string& column : columns) parts.push_back(fmt::format("quote({})", column));
    return fmt::format("{}", fmt::join(parts, " || ' ' || "));
}

std::vector<std::string> columns_of(Connection& connection, const std::string& table,
                                    const std::vector<std::string>& without) {
    Statement query(connection, "SELECT name FROM pragma_table_info(?1)");
    query.bind(table);
    std::vector<std::string> columns;
    while (query.step())
        if (std::ranges::find(without, query.text(0)) == without.end()) columns.push_back(query.text(0));
    return columns;
}

// A table whose rows name their attempt, with `key` among its columns.
RowKind whole_table(Connection& connection, const std::string& table, const std::vector<std::string>& key,
                    std::vector<std::string> without = {}) {
    without.insert(without.end(), key.begin(), key.end());
    without.insert(without.end(), {"id", "attempt_id"});
    return {table, fmt::format("SELECT {}, {} FROM {} WHERE attempt_id = ?1", quoted(key),
                               quoted(columns_of(connection, table, without)), table)};
}

}  // namespace

std::vector<RowKind> journal_row_kinds(Connection& connection) {
    return {
        whole_table(connection, "train_point", {"step"}),
        whole_table(connection, "sampling_point", {"step"}),
        whole_table(connection, "expert_load", {"step", "layer"}),
        {"spent", fmt::format("SELECT {}, {} FROM spent WHERE attempt_id = ?1", quoted({"step"}),
                              quoted({"train_seconds", "eval_seconds", "waited_seconds"}))},
        whole_table(connection, kScores, {"score_key"}, {"items"}),
        {"evaluation", fmt::format("SELECT {}, {} FROM evaluation v JOIN metric m ON m.id = v.metric_id"
                                   " WHERE v.attempt_id = ?1",
                                   quoted({"v.step", "v.task", "v.shots", "v.split", "m.name"}),
                                   quoted({"v.task_version", "v.score_key", "v.value", "v.kind", "v.n", "v.stderr",
                                           "v.chance", "m.unit", "m.better"}))},
        {"artifact", fmt::format("SELECT {}, {} FROM attempt_artifact r JOIN artifact f ON f.id = r.artifact_id"
                                 " WHERE r.attempt_id = ?1",
                                 quoted({"r.role", "r.step", "f.path"}), quoted({"f.sha256", "f.bytes", "f.kind"}))},
        {"attempt", fmt::format("SELECT 'its columns', {} FROM attempt a LEFT JOIN dataset d ON d.id = a.dataset_id"
                                " WHERE a.id = ?1",
                                quoted({"a.total_steps", "a.parameters", "a.active_parameters", "a.threads",
                                        "a.resume_step", "a.start_note", "a.train_seconds", "a.eval_seconds",
                                        "a.waited_seconds", "a.epochs_json", "a.spool_lines", "d.sha256", "d.name"}))},
    };
}

RowTexts row_texts(Connection& connection, const RowKind& kind, std::int64_t attempt_id) {
    Statement query(connection, kind.query.c_str());
    query.bind(attempt_id);
    RowTexts rows;
    while (query.step()) rows[query.text(0)] = query.text(1);
    if (kind.name != kScores) return rows;
    // Another version of zstd may compress the same text to other bytes.
    Statement items(connection,
                    "SELECT quote(score_key), items FROM score WHERE attempt_id = ?1 AND items IS NOT NULL");
    items.bind(attempt_id);
    while (items.step()) rows[items.text(0)] += " " + sha256(decompressed(items.blob(1)));
    return rows;
}

std::string difference(const RowTexts& stored, const RowTexts& of_journal) {
    std::int64_t changed = 0, missing = 0, extra = 0;
    std::string first;
    const auto note = [&](std::int64_t& count, const std::string& key) {
        ++count;
        if (first.empty()) first = key;
    };
    for (const auto& [key, values] : of_journal) {
        const auto found = stored.find(key);
        if (found == stored.end())
            note(missing, key);
        else if (found->second != values)
            note(changed, key);
    }
    for (const auto& [key, values] : stored)
        if (!of_journal.contains(key)) note(extra, key);
    std::vector<std::string> parts;
    if (changed > 0) parts.push_back(counted(changed, "row differs", "rows differ"));
    if (missing > 0)
        parts.push_back(counted(missing, "row of the journal is missing", "rows of the journal are missing"));
    if (extra > 0) parts.push_back(counted(extra, "row is not in the journal", "rows are not in the journal"));
    if (parts.empty()) return {};
    return fmt::format("{}; the first is {}", fmt::join(parts, ", "), first);
}

}  // namespace deft::results_db
