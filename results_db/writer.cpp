#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/score_key.h"
#include "base/sha256.h"
#include "base/stopwatch.h"
#include "results_db/compressed.h"
#include "results_db/host_key.h"
#include "results_db/ingest.h"
#include "results_db/open.h"
#include "results_db/score_rows.h"
#include "results_db/stored_configuration.h"
#include "results_db/tables.h"
#include "results_db/valid_json.h"
#include "results_db/writer.h"

namespace deft::results_db {

namespace {

// One file has one lock, whichever path leads to it.
std::filesystem::path real_path(const std::filesystem::path& file) {
    std::error_code error;
    const std::filesystem::path real = std::filesystem::weakly_canonical(file, error);
    return error ? std::filesystem::absolute(file) : real;
}

std::filesystem::path ours(const std::filesystem::path& file) {
    require_ours(file);
    return file;
}

}  // namespace

struct Writer::Impl {
    Impl(const std::filesystem::path& file, LockOptions options)
        : lock(ours(file), std::move(options)), connection(open_for_writing(file)) {}

    ~Impl() {
        try {
            held().execute("PRAGMA optimize");
        } catch (const std::exception&) {
            // A full disk at the very end loses what makes queries fast, no result.
        }
    }

    // Errors: database, where another machine's writer has taken over.
    Connection& held() const {
        lock.require_held();
        return *connection;
    }

    // Runs an INSERT ... RETURNING id in a transaction of its own, and gives that id.
    std::int64_t add(Statement& insert) {
        Transaction transaction(held());
        if (!insert.step()) connection->fail("read back from");
        const std::int64_t id = insert.integer(0);
        insert.run();
        transaction.commit();
        return id;
    }

    // The state of an attempt. Errors: missing.
    std::string state_of(std::int64_t attempt_id) {
        Statement query(*connection, "SELECT state FROM attempt WHERE id = ?1");
        if (!query.bind(attempt_id).step())
            throw Error(ErrorKind::missing, fmt::format("the results database has no attempt {}", attempt_id));
        return query.text(0);
    }

    void require_live(std::int64_t attempt_id) {
        const std::string state = state_of(attempt_id);
        if (state != "leased" && state != "running")
            throw Error(ErrorKind::database, fmt::format("attempt {} already ended as '{}'", attempt_id, state), {},
                        "the attempt");
    }

    WriterLock lock;
    std::unique_ptr<Connection> connection;
};

Writer::Writer(const std::filesystem::path& file, LockOptions options)
    : impl_(std::make_unique<Impl>(real_path(file), std::move(options))) {}

Writer::~Writer() = default;

std::int64_t Writer::add_code(const Code& code) {
    const std::string fingerprint = sha256(code.git_sha + '|' + code.diff_sha256 + '|' + code.binary_sha256);
    const std::vector<std::byte> diff = compressed(code.diff);
    const auto blob = diff.empty() ? std::nullopt : std::optional(std::span<const std::byte>(diff));
    Statement insert(impl_->held(), (insert_into("code", "fingerprint, diff_zst", kCodeColumns) +
                                     // A benchmark keeps the hash of a diff alone, a sweep of the same program may
                                     // keep its text.
                                     " ON CONFLICT (fingerprint) DO UPDATE SET"
                                     " diff_zst = coalesce(diff_zst, excluded.diff_zst) RETURNING id")
                                        .c_str());
    insert.bind(fingerprint, blob);
    bind_row(insert, 3, kCodeColumns, &code);
    return impl_->add(insert);
}

namespace {

// The row shows a new driver from now on. Attempts of programs that kept no extra_json of their own ran with what
// the row has said so far, and keep that.
void keep_extra_of_attempts(Connection& connection, const std::string& fingerprint, const std::string& newer_extra) {
    Transaction transaction(connection);
    Statement(connection,
              "UPDATE attempt SET machine_json = json_set(machine_json, '$.extra', json(h.extra_json)) FROM host h"
              " WHERE h.id = attempt.host_id AND h.fingerprint = ?1 AND h.extra_json <> ?2"
              " AND json_type(machine_json, '$.extra') IS NULL")
        .bind(fingerprint, newer_extra)
        .run();
    transaction.commit();
}

}  // namespace

std::int64_t Writer::add_host(const Host& host) {
    keep_extra_of_attempts(impl_->held(), host_fingerprint(host), host.extra_json);
    // For machines that count as one, the row shows the last seen; each attempt keeps its own.
    Statement insert(impl_->held(),
                     (insert_into("host", "fingerprint", kHostColumns) + " ON CONFLICT (fingerprint) DO UPDATE SET " +
                      excluded_but(kHostColumns, {"arch", "cpu_model", "cores", "threads"}) + " RETURNING id")
                         .c_str());
    insert.bind(host_fingerprint(host));
    bind_row(insert, 2, kHostColumns, &host);
    return impl_->add(insert);
}

std::int64_t Writer::add_sweep(const Sweep& sweep) {
    Sweep row = sweep;
    if (row.created_ms == 0) row.created_ms = now_ms();
    Statement insert(impl_->held(),
                     (insert_into("sweep", "uid, file_sha256, use_order", kSweepColumns) +
                      // Values outside the hash may have changed since.
                      " ON CONFLICT (name, spec_sha256) DO UPDATE SET use_order = excluded.use_order, " +
                      excluded_but(kSweepColumns, {"name", "spec_sha256", "spec_toml", "created_ms", "claims_json"}) +
                      " RETURNING id")
                         .c_str());
    insert.bind(random_uid(), sha256(sweep.spec_toml),
                impl_->held().integer("SELECT 1 + ifnull(max(use_order), 0) FROM sweep"));
    bind_row(insert, 4, kSweepColumns, &row);
    return impl_->add(insert);
}

namespace {

std::int64_t insert_trial(Connection& connection, const Trial& trial) {
    static const std::string sql = insert_into("experiment", "config_json", kTrialColumns) +
                                   // An update of nothing: RETURNING gives the id of a row that is there.
                                   " ON CONFLICT (config_hash) DO UPDATE SET label = label RETURNING id";
    Trial row = trial;
    if (row.created_ms == 0) row.created_ms = now_ms();
    Statement insert(connection, sql.c_str());
    insert.bind(valid_json(trial.config_json, "a trial's configuration"));
    bind_row(insert, 2, kTrialColumns, &row);
    if (!insert.step()) connection.fail("read back from");
    const std::int64_t id = insert.integer(0);
    insert.run();
    return id;
}

// Whether the row has what the trial says, so that it was not changed since.
bool is_stored_so(Connection& connection, std::int64_t id, const Trial& trial) {
    Statement row(connection, "SELECT config_hash, variant_hash, seed, config_json FROM experiment WHERE id = ?1");
    return row.bind(id).step() && row.text(0) == trial.config_hash && row.text(1) == trial.variant_hash &&
           row.integer(2) == trial.seed && row.text(3) == trial.config_json;
}

// The greatest use_order of the sweep's places so far.
std::int64_t last_use(Connection& connection, std::int64_t sweep_id) {
    Statement query(connection, "SELECT ifnull(max(use_order), 0) FROM sweep_member WHERE sweep_id = ?1");
    query.bind(sweep_id).step();
    return query.integer(0);
}

void insert_place(Connection& connection, std::int64_t sweep_id, std::int64_t trial_id, const TrialPlace& place,
                  std::int64_t use_order) {
    Statement(connection,
              "INSERT INTO sweep_member (sweep_id, experiment_id, case_key, ordinal, axes_json, scores_json,"
              " stage, seeds, imported_json, use_order) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
              " ON CONFLICT (sweep_id, experiment_id, case_key, axes_json) DO UPDATE SET ordinal = excluded.ordinal,"
              " scores_json = excluded.scores_json, stage = excluded.stage, seeds = excluded.seeds,"
              " imported_json = excluded.imported_json, use_order = excluded.use_order")
        .bind(sweep_id, trial_id, place.recipe, place.ordinal, valid_json(place.axes_json, "a recipe's axes"),
              valid_json(place.scores_json, "a recipe's scores"), place.stage, place.seeds,
              imported_json(place.imported), use_order)
        .run();
}

}  // namespace

std::int64_t Writer::add_trial(const Trial& trial) {
    Connection& connection = impl_->held();
    Transaction transaction(connection);
    const std::int64_t id = insert_trial(connection, trial);
    transaction.commit();
    require_own_hashes(connection, id);
    return id;
}

void Writer::add_place(std::int64_t sweep_id, std::int64_t trial_id, const TrialPlace& place) {
    Connection& connection = impl_->held();
    Transaction transaction(connection);
    insert_place(connection, sweep_id, trial_id, place, last_use(connection, sweep_id) + 1);
    transaction.commit();
}

std::vector<std::int64_t> Writer::add_trials(std::int64_t sweep_id, const std::vector<PlacedTrial>& trials) {
    Connection& connection = impl_->held();
    Transaction transaction(connection);
    std::int64_t use_order = last_use(connection, sweep_id);
    std::vector<std::int64_t> ids;
    for (const PlacedTrial& one : trials) {
        ids.push_back(insert_trial(connection, one.trial));
        if (!is_stored_so(connection, ids.back(), one.trial)) require_own_hashes(connection, ids.back());
        insert_place(connection, sweep_id, ids.back(), one.place, ++use_order);
    }
    transaction.commit();
    return ids;
}

namespace {

// Gives the price to the attempts that meet the condition, of which ?1 is the id.
void set_price(Connection& connection, const char* condition, std::int64_t id, const Price& price) {
    Statement update(connection,
                     fmt::format("UPDATE attempt SET {} WHERE {}", assignments(2, kPriceColumns), condition).c_str());
    update.bind(id);
    bind_row(update, 2, kPriceColumns, &price);
    update.run();
}

}  // namespace

void Writer::price_unpriced(std::int64_t sweep_id, const Price& price) {
    Transaction transaction(impl_->held());
    set_price(impl_->held(),
              "usd_per_hour IS NULL AND experiment_id IN"
              " (SELECT m.experiment_id FROM sweep_member m WHERE m.sweep_id = ?1)",
              sweep_id, price);
    transaction.commit();
}

bool Writer::is_trained(std::int64_t trial_id) const {
    Statement query(impl_->held(),
                    "SELECT 1 FROM attempt WHERE experiment_id = ?1 AND kind = 'train' AND state = 'ok'");
    return query.bind(trial_id).step();
}

bool Writer::was_validated(std::int64_t trial_id) const {
    Statement query(impl_->held(),
                    "SELECT 1 FROM attempt a JOIN evaluation v ON v.attempt_id = a.id WHERE a.experiment_id = ?1"
                    " AND a.kind = 'train' AND v.score_key = ?2");
    return query.bind(trial_id, kWhileTraining).step();
}

std::vector<std::string> Writer::unscored(std::int64_t trial_id, const std::vector<std::string>& keys) const {
    return unscored_keys(impl_->held(), trial_id, result_checkpoint(trial_id), keys);
}

std::optional<Checkpoint> Writer::result_checkpoint(std::int64_t trial_id) const {
    return results_db::result_checkpoint(impl_->held(), trial_id);
}

std::int64_t Writer::trainings(std::int64_t trial_id) const {
    Statement query(impl_->held(), "SELECT count(*) FROM attempt WHERE experiment_id = ?1 AND kind = 'train'");
    query.bind(trial_id).step();
    return query.integer(0);
}

std::int64_t Writer::last_step(std::int64_t trial_id) const {
    Statement query(impl_->held(), "SELECT ifnull(max(step), 0) FROM v_curve WHERE experiment_id = ?1");
    query.bind(trial_id).step();
    return query.integer(0);
}

std::int64_t Writer::trial_of(const std::string& config_hash) const {
    Statement query(impl_->held(), "SELECT id FROM experiment WHERE config_hash = ?1");
    if (!query.bind(config_hash).step())
        throw Error(ErrorKind::missing, fmt::format("the results database has no trial of hash {}", config_hash));
    return query.integer(0);
}

bool Writer::has_attempt(const std::string& uid) const {
    Statement query(impl_->held(), "SELECT 1 FROM attempt WHERE uid = ?1");
    return query.bind(uid).step();
}

std::int64_t Writer::next_attempt_number(std::int64_t trial_id) const {
    Statement query(impl_->held(), "SELECT 1 + ifnull(max(number), 0) FROM attempt WHERE experiment_id = ?1");
    query.bind(trial_id).step();
    return query.integer(0);
}

std::int64_t Writer::begin_attempt(std::int64_t trial_id, std::int64_t code_id, std::int64_t host_id,
                                   const NewAttempt& attempt) {
    Connection& connection = impl_->held();
    Transaction transaction(connection);
    {
        Statement live(connection,
                       "SELECT number FROM attempt WHERE experiment_id = ?1 AND state IN ('leased','running')");
        if (live.bind(trial_id).step())
            throw Error(ErrorKind::database,
                        fmt::format("attempt number {} of trial {} is still live", live.integer(0), trial_id),
                        "end it before another begins", "the attempt");
    }
    AttemptRow row;
    static_cast<NewAttempt&>(row) = attempt;
    row.created_ms = now_ms();
    const std::vector<Column> columns =
        joined({picked(kAttemptColumns, {"uid", "number", "created_ms"}), kShapeColumns, kLocalColumns});
    Statement insert(connection,
                     insert_into("attempt", "experiment_id, code_id, host_id, kind, state", columns).c_str());
    insert.bind(trial_id, code_id, host_id, attempt.work == Work::score ? "score" : "train", "leased");
    bind_row(insert, 6, columns, &row);
    insert.run();
    const std::int64_t id = connection.last_id();
    if (attempt.price) set_price(connection, "id = ?1", id, *attempt.price);
    transaction.commit();
    return id;
}

void Writer::set_running(std::int64_t attempt_id, const ProcessIdentity& process, std::int64_t started_ms) {
    Transaction transaction(impl_->held());
    impl_->require_live(attempt_id);
    Statement(impl_->held(),
              "UPDATE attempt SET state = 'running', pid = ?2, pid_start_ticks = ?3, boot_id = ?4, started_ms = ?5"
              " WHERE id = ?1")
        .bind(attempt_id, process.pid, process.start_ticks, process.boot_id, started_ms)
        .run();
    transaction.commit();
}

void Writer::set_place(std::int64_t attempt_id, const AttemptPlace& place) {
    Statement(impl_->held(), "UPDATE attempt SET host_id = ?2, machine_json = ?3, job = ?4, nodes = ?5 WHERE id = ?1")
        .bind(attempt_id, add_host(place.host), machine_json(place.host), place.job, place.nodes)
        .run();
}

IngestResult Writer::ingest(std::int64_t attempt_id, const std::filesystem::path& journal) {
    return ingest_journal(impl_->held(), attempt_id, journal);
}

void Writer::end_attempt(std::int64_t attempt_id, const Outcome& outcome) {
    const auto or_null = [](const std::string& text) {
        return text.empty() ? std::nullopt : std::optional<std::string>(text);
    };
    const SyncedCommits synced(impl_->held());
    Transaction transaction(impl_->held());
    impl_->require_live(attempt_id);
    // The trial's own peak may be missing (killed) or the driver's may be: the larger one is nearer the truth.
    Statement(impl_->held(),
              "UPDATE attempt SET state = ?2, fail_class = ?3, exit_code = ?4, term_signal = ?5, error = ?6,"
              " peak_rss_bytes = max(ifnull(peak_rss_bytes, 0), ?7), cpu_seconds = max(ifnull(cpu_seconds, 0), ?8),"
              " ended_ms = ?9, own_seconds = ?10, held_seconds = ?11, queue_seconds = ?12 WHERE id = ?1")
        .bind(attempt_id, outcome.state, or_null(outcome.fail_class), outcome.exit_code, outcome.term_signal,
              or_null(outcome.error), outcome.peak_rss_bytes, outcome.cpu_seconds,
              outcome.ended_ms > 0 ? outcome.ended_ms : now_ms(), outcome.own_seconds, outcome.held_seconds,
              outcome.queue_seconds)
        .run();
    transaction.commit();
}

std::vector<LiveAttempt> Writer::live_attempts() const {
    return results_db::live_attempts(impl_->held());
}

bool Writer::add_bench_session(const BenchSession& session) {
    Transaction transaction(impl_->held());
    const bool is_new = insert_bench_session(impl_->held(), session);
    transaction.commit();
    return is_new;
}

void Writer::pin_baseline(const std::vector<BaselineRow>& rows) {
    Transaction transaction(impl_->held());
    insert_baseline(impl_->held(), rows);
    transaction.commit();
}

std::int64_t Writer::retire_baseline(const std::string& name) {
    Transaction transaction(impl_->held());
    const std::int64_t rows = results_db::retire_baseline(impl_->held(), name, now_ms());
    transaction.commit();
    return rows;
}

std::vector<Merged> Writer::merge(const std::vector<NamedEvidence>& texts, const std::string& run_suffix) {
    return merge_evidence(impl_->held(), texts, run_suffix);
}

void Writer::add_verdicts(const std::vector<VerdictRow>& rows) {
    Transaction transaction(impl_->held());
    insert_verdicts(impl_->held(), rows);
    transaction.commit();
}

}  // namespace deft::results_db
