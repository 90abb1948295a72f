#include "results_db/gate_rows.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/suggestion.h"
#include "results_db/connection.h"
#include "results_db/tables.h"

namespace deft::results_db {

namespace {

void require_free(Connection& connection, const std::string& name) {
    Statement live(connection, "SELECT 1 FROM baseline WHERE name = ?1 AND retired_ms IS NULL");
    if (live.bind(name).step())
        throw Error(ErrorKind::usage, fmt::format("there is a live baseline {} already", name),
                    fmt::format("retire it first: deft baseline retire {}; or choose another name", name),
                    "the baseline");
}

std::vector<std::string> live_names(Connection& connection) {
    Statement query(connection, "SELECT DISTINCT name FROM baseline WHERE retired_ms IS NULL ORDER BY name");
    std::vector<std::string> names;
    while (query.step()) names.push_back(query.text(0));
    return names;
}

}  // namespace

void insert_baseline(Connection& connection, const std::vector<BaselineRow>& rows) {
    for (const BaselineRow& row : rows) {
        if (&row == &rows.front() || row.name != rows.front().name) require_free(connection, row.name);
        Statement insert(connection, insert_into("baseline", "", kBaselineColumns).c_str());
        bind_row(insert.bind(), 1, kBaselineColumns, &row);
        insert.run();
    }
}

std::int64_t retire_baseline(Connection& connection, const std::string& name, std::int64_t now_ms) {
    Statement(connection, "UPDATE baseline SET retired_ms = ?2 WHERE name = ?1 AND retired_ms IS NULL")
        .bind(name, now_ms)
        .run();
    const std::int64_t retired = connection.changes();
    if (retired > 0) return retired;
    const std::vector<std::string> names = live_names(connection);
    throw Error(names.empty() ? ErrorKind::missing : ErrorKind::usage,
                fmt::format("no live baseline is named {}", name),
                names.empty() ? "pin one: deft baseline pin NAME" : suggestion(name, names));
}

std::vector<BaselineRow> read_baselines(Connection& connection) {
    Statement query(
        connection,
        ("SELECT " + column_names(kBaselineColumns) + " FROM baseline ORDER BY name, created_ms, id").c_str());
    std::vector<BaselineRow> rows;
    while (query.step()) read_row(query, 0, kBaselineColumns, &rows.emplace_back());
    return rows;
}

void insert_verdicts(Connection& connection, const std::vector<VerdictRow>& rows) {
    Statement insert(connection, insert_into("verdict", "", kVerdictColumns).c_str());
    for (const VerdictRow& row : rows) {
        bind_row(insert.bind(), 1, kVerdictColumns, &row);
        insert.run();
    }
}

std::vector<VerdictRow> read_verdicts(Connection& connection) {
    Statement query(connection, ("SELECT " + column_names(kVerdictColumns) + " FROM verdict ORDER BY id").c_str());
    std::vector<VerdictRow> rows;
    while (query.step()) read_row(query, 0, kVerdictColumns, &rows.emplace_back());
    return rows;
}

}  // namespace deft::results_db
