#include "results_db/verify/verifier.h"

#include <fmt/format.h>

#include <optional>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "results_db/connection.h"
#include "results_db/ingest.h"
#include "results_db/open.h"
#include "results_db/stored_configuration.h"
#include "results_db/verify/row_texts.h"

namespace deft::results_db {

namespace {

constexpr const char* kRanHere = "workdir <> ''";
// The attempt as it was before its journal was read, in a database without rows that it refers to.
constexpr const char* kBareTrial =
    "INSERT INTO experiment (id, config_hash, variant_hash, seed, config_json, label, created_ms)"
    " VALUES (1, ?1, '', 0, '{}', '', 0)";
constexpr const char* kBareAttempt =
    "INSERT INTO attempt (id, uid, experiment_id, number, kind, state, code_id, host_id, worker, argv_json, workdir,"
    " created_ms, started_ms) VALUES (?1, 'replayed', 1, 1, 'train', 'running', 1, 1, '', '[]', ?2, 0, ?3)";

// Tables, indexes, views and triggers that `wanted` has and the connection lacks.
std::vector<Fault> schema_faults(Connection& connection, Connection& wanted) {
    std::vector<Fault> faults;
    Statement all(wanted, "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name");
    Statement find(connection, "SELECT sql FROM sqlite_master WHERE type = ?1 AND name = ?2");
    while (all.step()) {
        const std::string type = all.text(0), name = all.text(1);
        if (!find.bind(type, name).step())
            faults.push_back({FaultKind::database, type + " " + name, "it is missing in the schema"});
        else if (type == "trigger" && find.text(0) != all.text(2))
            faults.push_back({FaultKind::database, type + " " + name, "it is not the rule of this schema version"});
    }
    return faults;
}

void add_rows(std::vector<Fault>& faults, Connection& connection, const char* sql, const char* what) {
    for (Statement query(connection, sql); query.step();)
        faults.push_back({FaultKind::database, query.text(0), fmt::format("{}{}", what, query.text(1))});
}

}  // namespace

struct Verifier::Impl {
    explicit Impl(const std::filesystem::path& file) : connection(open_for_reading(file)) {
        replay->execute("PRAGMA foreign_keys = OFF");
        kinds = journal_row_kinds(*replay);
    }

    std::unique_ptr<Connection> connection;
    std::unique_ptr<Connection> replay = open_in_memory("the rows of a journal");
    std::vector<RowKind> kinds;
    std::int64_t compared_rows = 0;
};

Verifier::Verifier(const std::filesystem::path& file) : impl_(std::make_unique<Impl>(file)) {}
Verifier::~Verifier() = default;

std::vector<Fault> Verifier::database_faults() {
    Connection& connection = *impl_->connection;
    const Transaction snapshot(connection, Transaction::Kind::read);
    std::vector<Fault> faults;
    for (Statement query(connection, "PRAGMA integrity_check(20)"); query.step();)
        if (query.text(0) != "ok") faults.push_back({FaultKind::database, "results.db", query.text(0)});
    const std::vector<Fault> of_schema = schema_faults(connection, *impl_->replay);
    faults.insert(faults.end(), of_schema.begin(), of_schema.end());
    add_rows(faults, connection,
             "SELECT \"table\" || ', row ' || ifnull(rowid, '?'), \"parent\" FROM pragma_foreign_key_check",
             "it refers to a row that is not in ");
    add_rows(faults, connection,
             "SELECT e.label || '/' || e.seed, count(*) FROM attempt a JOIN experiment e ON e.id = a.experiment_id"
             " WHERE a.state IN ('leased', 'running') GROUP BY a.experiment_id HAVING count(*) > 1",
             "attempts that are live at once: ");
    add_rows(faults, connection,
             "SELECT e.label || '/' || e.seed || ', attempt ' || a.number, a.state FROM attempt a JOIN experiment e"
             " ON e.id = a.experiment_id WHERE (a.state IN ('leased', 'running')) <> (a.ended_ms IS NULL)",
             "the time of its end does not fit its state ");
    return faults;
}

std::vector<Fault> Verifier::trial_faults() {
    std::vector<Fault> faults;
    for (Statement query(*impl_->connection, "SELECT id, label || '/' || seed FROM experiment ORDER BY id");
         query.step();)
        try {
            static_cast<void>(require_own_hashes(*impl_->connection, query.integer(0)));
        } catch (const Error& error) {
            faults.push_back({FaultKind::trial, query.text(1), first_line(error.what())});
        }
    return faults;
}

std::vector<Fault> Verifier::curve_faults() {
    std::vector<Fault> faults;
    Statement query(
        *impl_->connection,
        fmt::format("SELECT e.label || '/' || e.seed, a.total_steps, (SELECT ifnull(max(step), 0) FROM v_curve c"
                    " WHERE c.experiment_id = e.id) AS last"
                    " FROM experiment e JOIN v_kept k ON k.experiment_id = e.id AND k.is_result"
                    " JOIN attempt a ON a.id = k.attempt_id"
                    " WHERE a.state = 'ok' AND a.{} AND a.total_steps > last ORDER BY e.id",
                    kRanHere)
            .c_str());
    while (query.step())
        faults.push_back({FaultKind::curve, query.text(0),
                          fmt::format("its curve ends at step {} of {}", query.integer(2), query.integer(1))});
    return faults;
}

std::vector<VerifiedAttempt> Verifier::attempts() {
    std::vector<VerifiedAttempt> attempts;
    Statement query(
        *impl_->connection,
        fmt::format("SELECT a.id, e.label || '/' || e.seed || ', attempt ' || a.number, a.workdir, e.config_hash,"
                    " a.state, a.state IN ('leased', 'running'), a.kind = 'train', a.spool_bytes,"
                    " ifnull(a.resume_step, 0)"
                    " FROM attempt a JOIN experiment e ON e.id = a.experiment_id WHERE a.{}"
                    " ORDER BY e.id, a.number",
                    kRanHere)
            .c_str());
    while (query.step())
        attempts.push_back({query.integer(0), query.text(1), query.text(2), query.text(3), query.text(4),
                            query.integer(5) != 0, query.integer(6) != 0, query.integer(7), query.integer(8)});
    return attempts;
}

std::int64_t Verifier::merged_attempts() {
    return impl_->connection->integer("SELECT count(*) FROM attempt WHERE workdir = ''");
}

std::vector<Fault> Verifier::journal_faults(const VerifiedAttempt& attempt, const std::filesystem::path& journal) {
    Connection &stored = *impl_->connection, &replay = *impl_->replay;
    std::int64_t read_bytes = 0;
    std::optional<std::int64_t> started;
    std::vector<RowTexts> rows;
    {
        const Transaction snapshot(stored, Transaction::Kind::read);
        Statement position(stored, "SELECT spool_bytes, started_ms FROM attempt WHERE id = ?1");
        if (!position.bind(attempt.id).step()) return {};
        read_bytes = position.integer(0);
        started = position.maybe_integer(1);
        for (const RowKind& kind : impl_->kinds) rows.push_back(row_texts(stored, kind, attempt.id));
    }
    for (const char* table : {"train_point", "sampling_point", "expert_load", "spent", "score", "evaluation",
                              "attempt_artifact", "artifact", "attempt", "experiment"})
        replay.execute(fmt::format("DELETE FROM {}", table).c_str());
    Statement(replay, kBareTrial).bind(attempt.config_hash).run();
    Statement(replay, kBareAttempt).bind(attempt.id, attempt.workdir, started).run();
    std::vector<Fault> faults;
    try {
        ingest_journal(replay, attempt.id, journal, read_bytes);
    } catch (const JournalError& error) {
        faults.push_back({FaultKind::journal, attempt.name, first_line(error.what())});
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        impl_->compared_rows += std::ssize(rows[i]);
        const RowKind& kind = impl_->kinds[i];
        if (const std::string found = difference(rows[i], row_texts(replay, kind, attempt.id)); !found.empty())
            faults.push_back({FaultKind::journal, attempt.name, fmt::format("{}: {}", kind.name, found)});
    }
    return faults;
}

std::vector<std::int64_t> Verifier::steps(const VerifiedAttempt& attempt) {
    std::vector<std::int64_t> steps;
    Statement query(*impl_->connection, "SELECT step FROM train_point WHERE attempt_id = ?1 ORDER BY step");
    query.bind(attempt.id);
    while (query.step()) steps.push_back(query.integer(0));
    return steps;
}

std::int64_t Verifier::compared_rows() const {
    return impl_->compared_rows;
}

std::vector<RecordedFile> Verifier::files() {
    std::vector<RecordedFile> files;
    Statement query(
        *impl_->connection,
        fmt::format(
            "SELECT DISTINCT f.path, f.sha256, f.bytes, e.label || '/' || e.seed || ', attempt ' || a.number"
            " FROM experiment e JOIN attempt a ON a.id = (SELECT b.id FROM attempt b"
            "  WHERE b.experiment_id = e.id AND b.kind = 'train' AND b.state = 'ok' ORDER BY b.number DESC LIMIT 1)"
            " JOIN attempt_artifact r ON r.attempt_id = a.id JOIN artifact f ON f.id = r.artifact_id"
            " WHERE a.{} ORDER BY f.path",
            kRanHere)
            .c_str());
    while (query.step()) files.push_back({query.text(0), query.text(1), query.text(3), query.integer(2)});
    return files;
}

std::vector<std::string> Verifier::config_hashes() {
    std::vector<std::string> hashes;
    for (Statement query(*impl_->connection, "SELECT config_hash FROM experiment"); query.step();)
        hashes.push_back(query.text(0));
    return hashes;
}

std::vector<std::string> Verifier::live_config_hashes() {
    std::vector<std::string> hashes;
    for (Statement query(*impl_->connection,
                         "SELECT DISTINCT e.config_hash FROM attempt a JOIN experiment e ON e.id = a.experiment_id"
                         " WHERE a.state IN ('leased', 'running')");
         query.step();)
        hashes.push_back(query.text(0));
    return hashes;
}

}  // namespace deft::results_db
