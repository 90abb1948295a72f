#include "results_db/bench_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/median.h"
#include "base/sha256.h"
#include "results_db/connection.h"
#include "results_db/open.h"
#include "results_db/valid_json.h"

namespace deft::results_db {

namespace {

static_assert(std::endian::native == std::endian::little, "samples are stored as they lie in memory");

std::int64_t case_id(Connection& connection, const BenchSamples& samples) {
    const std::string hash =
        sha256(samples.kernel + '|' + samples.impl + '|' + samples.params_json + '|' + std::to_string(samples.version));
    Statement(connection,
              "INSERT INTO bench_case (case_hash, kernel, impl, params_json, version, flops, bytes)"
              " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (case_hash) DO NOTHING")
        .bind(hash, samples.kernel, samples.impl, valid_json(samples.params_json, "a benchmark's parameters"),
              samples.version, samples.flops, samples.bytes)
        .run();
    Statement query(connection, "SELECT id FROM bench_case WHERE case_hash = ?1");
    if (!query.bind(hash).step()) connection.fail("read back from");
    return query.integer(0);
}

void insert_result(Connection& connection, std::int64_t session_id, const BenchSamples& samples) {
    const std::vector<double>& seconds = samples.seconds;
    const auto n = static_cast<std::int64_t>(seconds.size());
    const double middle = median(seconds);
    std::vector<double> deviation;
    for (const double value : seconds) deviation.push_back(std::abs(value - middle));
    const double mean = std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(n);
    Statement(
        connection,
        "INSERT INTO bench_result (session_id, case_id, code_id, arm, n, samples, min, median, mean, mad, verified)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)")
        .bind(session_id, case_id(connection, samples), samples.code_id, samples.arm, n,
              std::as_bytes(std::span(seconds)), *std::min_element(seconds.begin(), seconds.end()), middle, mean,
              median(deviation), samples.verified)
        .run();
}

}  // namespace

bool insert_bench_session(Connection& connection, const BenchSession& session) {
    Statement(connection,
              "INSERT INTO bench_session (uid, mode, host_id, started_ms, ended_ms, env_json, settings_json)"
              " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (uid) DO NOTHING")
        .bind(session.uid.empty() ? random_uid() : session.uid, session.mode, session.host_id, session.started_ms,
              session.ended_ms, valid_json(session.env_json, "a benchmark's environment"),
              valid_json(session.settings_json, "a benchmark's settings"))
        .run();
    if (connection.changes() == 0) return false;
    const std::int64_t id = connection.last_id();
    for (const BenchSamples& samples : session.results) insert_result(connection, id, samples);
    return true;
}

std::vector<BenchRow> read_bench_rows(Connection& connection) {
    Statement query(
        connection,
        "SELECT c.kernel, c.impl, c.params_json, s.uid, r.arm, code.git_sha, host.fingerprint, s.started_ms,"
        " r.samples, r.verified FROM bench_result r JOIN bench_case c ON c.id = r.case_id"
        " JOIN bench_session s ON s.id = r.session_id JOIN code ON code.id = r.code_id"
        " JOIN host ON host.id = s.host_id ORDER BY c.id, s.started_ms, s.id, r.arm");
    std::vector<BenchRow> rows;
    while (query.step()) {
        BenchRow row{query.text(0),        query.text(1),    query.text(2),
                     query.text(3),        query.text(4),    query.text(5),
                     query.text(6),        query.integer(7), {},
                     query.integer(9) != 0};
        const std::span<const std::byte> samples = query.blob(8);
        row.seconds.resize(samples.size() / sizeof(double));
        std::memcpy(row.seconds.data(), samples.data(), row.seconds.size() * sizeof(double));
        rows.push_back(std::move(row));
    }
    return rows;
}

std::vector<BenchHistoryRow> read_bench_history(Connection& connection) {
    Statement query(
        connection,
        "SELECT c.kernel, c.impl, c.params_json, c.version, h.hostname, h.fingerprint, k.compiler, k.id,"
        " k.git_sha, s.started_ms, s.ended_ms, r.median, r.mad, h.cpu_model,"
        " CASE WHEN json_valid(s.env_json) THEN json_extract(s.env_json, '$.machine') END FROM bench_result r"
        " JOIN bench_case c ON c.id = r.case_id JOIN bench_session s ON s.id = r.session_id"
        " JOIN code k ON k.id = r.code_id JOIN host h ON h.id = s.host_id"
        " WHERE s.mode = 'import' OR (s.mode = 'single' AND r.verified = 1)"
        " ORDER BY c.kernel, c.params_json, c.impl, c.id, h.id, k.compiler, s.started_ms, s.id");
    std::vector<BenchHistoryRow> rows;
    while (query.step())
        rows.push_back({query.text(0), query.text(1), query.text(2), query.integer(3), query.text(4), query.text(5),
                        query.text(6), query.integer(7), query.text(8), query.integer(9), query.integer(10),
                        query.real(11), query.real(12), query.text(13), query.text(14)});
    return rows;
}

}  // namespace deft::results_db
