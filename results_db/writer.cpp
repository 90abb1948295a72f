#include <fmt/format.h>
#include <unistd.h>
#include <zstd.h>

#include <array>
#include <fstream>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/stopwatch.h"
#include "results_db/ingest.h"
#include "results_db/lock.h"
#include "results_db/open.h"
#include "results_db/store.h"
#include "results_db/valid_json.h"

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

std::vector<std::byte> compress(const std::string& text) {
    std::vector<std::byte> bytes(ZSTD_compressBound(text.size()));
    const std::size_t size = ZSTD_compress(bytes.data(), bytes.size(), text.data(), text.size(), 3);
    if (ZSTD_isError(size) != 0)
        throw Error(ErrorKind::memory, fmt::format("cannot compress a diff: {}", ZSTD_getErrorName(size)));
    bytes.resize(size);
    return bytes;
}

std::string boot_id() {
    std::ifstream in("/proc/sys/kernel/random/boot_id");
    std::string id;
    std::getline(in, id);
    return id;
}

std::string host_name() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace

struct Writer::Impl {
    explicit Impl(const std::filesystem::path& file) : lock(ours(file)), connection(open_for_writing(file)) {
        Transaction transaction(*connection);
        Statement(*connection, "INSERT INTO driver (uid, host, pid, boot_id, started_ms) VALUES (?1, ?2, ?3, ?4, ?5)")
            .bind(uid, host_name(), std::int64_t{getpid()}, boot_id(), now_ms())
            .run();
        transaction.commit();
    }

    ~Impl() {
        try {
            Transaction transaction(*connection);
            Statement(*connection, "UPDATE driver SET ended_ms = ?2 WHERE uid = ?1").bind(uid, now_ms()).run();
            transaction.commit();
            connection->execute("PRAGMA optimize");
        } catch (const std::exception&) {
            // A full disk at the very end loses a note, no result.
        }
    }

    // Runs an INSERT ... DO NOTHING and gives the id that `find` sees afterwards; both take the same values.
    template <class... Values>
    std::int64_t add(const char* insert, const char* find, const std::string& key, const Values&... values) {
        Transaction transaction(*connection);
        Statement(*connection, insert).bind(key, values...).run();
        Statement query(*connection, find);
        query.bind(key);
        if (!query.step()) connection->fail("read back from");
        const std::int64_t id = query.integer(0);
        query.run();
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
    std::string uid = random_uid();
};

Writer::Writer(const std::filesystem::path& file) : impl_(std::make_unique<Impl>(real_path(file))) {}

Writer::~Writer() = default;

std::int64_t Writer::add_code(const Code& code) {
    const std::string fingerprint = sha256(code.git_sha + '|' + code.diff_sha256 + '|' + code.binary_sha256);
    const std::vector<std::byte> diff = code.diff.empty() ? std::vector<std::byte>{} : compress(code.diff);
    const auto blob = diff.empty() ? std::nullopt : std::optional(std::span<const std::byte>(diff));
    return impl_->add(
        "INSERT INTO code (fingerprint, git_sha, git_branch, dirty, diff_sha256, diff_zst, binary_sha256, compiler,"
        " cxx_flags, build_type) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT (fingerprint) DO NOTHING",
        "SELECT id FROM code WHERE fingerprint = ?1", fingerprint, code.git_sha, code.git_branch, code.dirty,
        code.diff_sha256, blob, code.binary_sha256, code.compiler, code.cxx_flags, code.build_type);
}

std::int64_t Writer::add_host(const Host& host) {
    const std::string content = Json{host.hostname,  host.arch,   host.cpu_model, host.cores,     host.threads,
                                     host.mem_bytes, host.kernel, host.os,        host.extra_json}
                                    .dump(-1, ' ', false, Json::error_handler_t::replace);
    return impl_->add(
        "INSERT INTO host (fingerprint, hostname, arch, cpu_model, cores, threads, mem_bytes, kernel, os, extra_json)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT (fingerprint) DO NOTHING",
        "SELECT id FROM host WHERE fingerprint = ?1", sha256(content), host.hostname, host.arch, host.cpu_model,
        host.cores, host.threads, host.mem_bytes, host.kernel, host.os, valid_json(host.extra_json, "a host's extra"));
}

std::int64_t Writer::add_sweep(const Sweep& sweep) {
    Transaction transaction(*impl_->connection);
    Statement insert(*impl_->connection,
                     "INSERT INTO sweep (uid, name, spec_sha256, spec_toml, overrides_json, created_ms, use_order)"
                     " VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1 + (SELECT ifnull(max(use_order), 0) FROM sweep))"
                     " ON CONFLICT (name, spec_sha256) DO UPDATE SET use_order = excluded.use_order RETURNING id");
    insert.bind(random_uid(), sweep.name, sweep.spec_sha256, sweep.spec_toml,
                valid_json(sweep.overrides_json, "a sweep's overrides"), now_ms());
    if (!insert.step()) impl_->connection->fail("read back from");
    const std::int64_t id = insert.integer(0);
    insert.run();
    transaction.commit();
    return id;
}

std::int64_t Writer::add_experiment(const Experiment& experiment) {
    return impl_->add(
        "INSERT INTO experiment (config_hash, variant_hash, seed, config_json, label, created_ms)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (config_hash) DO NOTHING",
        "SELECT id FROM experiment WHERE config_hash = ?1", experiment.config_hash, experiment.variant_hash,
        experiment.seed, valid_json(experiment.config_json, "an experiment's configuration"), experiment.label,
        now_ms());
}

void Writer::add_member(std::int64_t sweep_id, std::int64_t experiment_id, const Member& member) {
    Transaction transaction(*impl_->connection);
    Statement(*impl_->connection,
              "INSERT INTO sweep_member (sweep_id, experiment_id, case_key, ordinal, axes_json)"
              " VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (sweep_id, experiment_id, case_key)"
              " DO UPDATE SET ordinal = excluded.ordinal, axes_json = excluded.axes_json")
        .bind(sweep_id, experiment_id, member.case_key, member.ordinal, valid_json(member.axes_json, "a case's axes"))
        .run();
    transaction.commit();
}

void Writer::add_price(const Price& price) {
    Transaction transaction(*impl_->connection);
    Statement(*impl_->connection,
              "INSERT INTO price (sku, valid_from_ms, usd_per_hour, source) VALUES (?1, ?2, ?3, ?4)"
              " ON CONFLICT (sku, valid_from_ms) DO UPDATE SET usd_per_hour = excluded.usd_per_hour,"
              " source = excluded.source")
        .bind(price.sku, price.valid_from_ms, price.usd_per_hour, price.source)
        .run();
    transaction.commit();
}

bool Writer::is_done(std::int64_t experiment_id) const {
    Statement query(*impl_->connection, "SELECT 1 FROM attempt WHERE experiment_id = ?1 AND state = 'ok'");
    return query.bind(experiment_id).step();
}

bool Writer::has_attempt(const std::string& uid) const {
    Statement query(*impl_->connection, "SELECT 1 FROM attempt WHERE uid = ?1");
    return query.bind(uid).step();
}

std::int64_t Writer::next_attempt_number(std::int64_t experiment_id) const {
    Statement query(*impl_->connection, "SELECT 1 + ifnull(max(number), 0) FROM attempt WHERE experiment_id = ?1");
    query.bind(experiment_id).step();
    return query.integer(0);
}

std::int64_t Writer::begin_attempt(std::int64_t experiment_id, std::int64_t code_id, std::int64_t host_id,
                                   const NewAttempt& attempt) {
    Connection& connection = *impl_->connection;
    Transaction transaction(connection);
    {
        Statement live(connection,
                       "SELECT number FROM attempt WHERE experiment_id = ?1 AND state IN ('leased','running')");
        if (live.bind(experiment_id).step())
            throw Error(ErrorKind::database,
                        fmt::format("attempt number {} of experiment {} is still live", live.integer(0), experiment_id),
                        "end it before another begins", "the attempt");
    }
    Statement(connection,
              "INSERT INTO attempt (uid, experiment_id, number, state, code_id, host_id, worker, slots_json, argv_json,"
              " workdir, created_ms, lease_until_ms) VALUES (?1, ?2, ?3, 'leased', ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)")
        .bind(attempt.uid, experiment_id, attempt.number, code_id, host_id, attempt.worker,
              valid_json(attempt.slots_json, "an attempt's slots"),
              valid_json(attempt.argv_json, "an attempt's arguments"), attempt.workdir, now_ms(),
              attempt.lease_until_ms)
        .run();
    const std::int64_t id = connection.last_id();
    transaction.commit();
    return id;
}

void Writer::set_running(std::int64_t attempt_id, const ProcessIdentity& process, std::int64_t started_ms) {
    Transaction transaction(*impl_->connection);
    impl_->require_live(attempt_id);
    Statement(*impl_->connection,
              "UPDATE attempt SET state = 'running', pid = ?2, pid_start_ticks = ?3, boot_id = ?4, started_ms = ?5,"
              " heartbeat_ms = ?5 WHERE id = ?1")
        .bind(attempt_id, process.pid, process.start_ticks, process.boot_id, started_ms)
        .run();
    transaction.commit();
}

IngestResult Writer::ingest(std::int64_t attempt_id, const std::filesystem::path& journal) {
    return ingest_journal(*impl_->connection, attempt_id, journal);
}

void Writer::end_attempt(std::int64_t attempt_id, const Outcome& outcome) {
    const auto or_null = [](const std::string& text) {
        return text.empty() ? std::nullopt : std::optional<std::string>(text);
    };
    const SyncedCommits synced(*impl_->connection);
    Transaction transaction(*impl_->connection);
    impl_->require_live(attempt_id);
    // The trial's own peak may be missing (killed) or the driver's may be: the larger one is nearer the truth.
    Statement(*impl_->connection,
              "UPDATE attempt SET state = ?2, fail_class = ?3, exit_code = ?4, term_signal = ?5, error = ?6,"
              " peak_rss_bytes = max(ifnull(peak_rss_bytes, 0), ?7), cpu_seconds = max(ifnull(cpu_seconds, 0), ?8),"
              " ended_ms = ?9 WHERE id = ?1")
        .bind(attempt_id, outcome.state, or_null(outcome.fail_class), outcome.exit_code, outcome.term_signal,
              or_null(outcome.error), outcome.peak_rss_bytes, outcome.cpu_seconds,
              outcome.ended_ms > 0 ? outcome.ended_ms : now_ms())
        .run();
    transaction.commit();
}

void Writer::set_cost(std::int64_t attempt_id, const std::string& sku, std::int64_t devices, double device_seconds,
                      double model_flops) {
    Connection& connection = *impl_->connection;
    Transaction transaction(connection);
    impl_->state_of(attempt_id);
    std::optional<double> usd, rate;
    std::optional<std::int64_t> valid_from;
    std::optional<std::string> source;
    {
        Statement price(connection,
                        "SELECT p.usd_per_hour, p.valid_from_ms, p.source FROM price p, attempt a"
                        " WHERE a.id = ?1 AND p.sku = ?2 AND p.valid_from_ms <= ifnull(a.started_ms, a.created_ms)"
                        " ORDER BY p.valid_from_ms DESC LIMIT 1");
        if (price.bind(attempt_id, sku).step()) {
            rate = price.real(0);
            valid_from = price.integer(1);
            source = price.text(2);
            usd = device_seconds / 3600.0 * *rate;
        }
    }
    Statement(connection,
              "INSERT INTO cost (attempt_id, sku, devices, device_seconds, usd, usd_per_hour, price_source,"
              " price_valid_from_ms, model_flops) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
              " ON CONFLICT (attempt_id) DO UPDATE SET sku = excluded.sku, devices = excluded.devices,"
              " device_seconds = excluded.device_seconds, usd = excluded.usd, usd_per_hour = excluded.usd_per_hour,"
              " price_source = excluded.price_source, price_valid_from_ms = excluded.price_valid_from_ms,"
              " model_flops = excluded.model_flops")
        .bind(attempt_id, sku, devices, device_seconds, usd, rate, source, valid_from, model_flops)
        .run();
    transaction.commit();
}

std::vector<LiveAttempt> Writer::live_attempts() const {
    Statement query(*impl_->connection,
                    "SELECT a.id, a.experiment_id, e.config_hash, a.workdir, a.pid, a.pid_start_ticks, a.boot_id"
                    " FROM attempt a JOIN experiment e ON e.id = a.experiment_id"
                    " WHERE a.state IN ('leased','running') ORDER BY a.id");
    std::vector<LiveAttempt> live;
    while (query.step())
        live.push_back({query.integer(0),
                        query.integer(1),
                        query.text(2),
                        query.text(3),
                        {query.integer(4), query.integer(5), query.text(6)}});
    return live;
}

bool Writer::add_bench_session(const BenchSession& session) {
    Transaction transaction(*impl_->connection);
    const bool is_new = insert_bench_session(*impl_->connection, session);
    transaction.commit();
    return is_new;
}

void Writer::pin_baseline(const std::vector<BaselineRow>& rows) {
    Transaction transaction(*impl_->connection);
    insert_baseline(*impl_->connection, rows);
    transaction.commit();
}

std::int64_t Writer::retire_baseline(const std::string& name) {
    Transaction transaction(*impl_->connection);
    const std::int64_t rows = results_db::retire_baseline(*impl_->connection, name, now_ms());
    transaction.commit();
    return rows;
}

void Writer::add_verdicts(const std::vector<VerdictRow>& rows) {
    Transaction transaction(*impl_->connection);
    insert_verdicts(*impl_->connection, rows);
    transaction.commit();
}

void Writer::add_event(const std::string& actor, const std::string& kind, const std::string& ref,
                       const std::string& payload_json) {
    Transaction transaction(*impl_->connection);
    Statement(*impl_->connection, "INSERT INTO event (ts_ms, actor, kind, ref, payload) VALUES (?1, ?2, ?3, ?4, ?5)")
        .bind(now_ms(), actor, kind, ref, valid_json(payload_json, "an event's payload"))
        .run();
    transaction.commit();
}

}  // namespace deft::results_db
