#include "results_db/bench_history.h"

#include "results_db/connection.h"

namespace deft::results_db {

std::vector<BenchHistoryRow> read_bench_history(Connection& connection) {
    Statement query(connection,
                    "SELECT c.kernel, c.impl, c.params_json, c.version, h.hostname, h.fingerprint, k.compiler, k.id,"
                    " k.git_sha, s.started_ms, s.ended_ms, r.median, r.mad, h.cpu_model FROM bench_result r"
                    " JOIN bench_case c ON c.id = r.case_id JOIN bench_session s ON s.id = r.session_id"
                    " JOIN code k ON k.id = r.code_id JOIN host h ON h.id = s.host_id"
                    " WHERE s.mode = 'import' OR (s.mode = 'single' AND r.verified = 1)"
                    " ORDER BY c.kernel, c.params_json, c.impl, c.id, h.id, k.compiler, s.started_ms, s.id");
    std::vector<BenchHistoryRow> rows;
    while (query.step())
        rows.push_back({query.text(0), query.text(1), query.text(2), query.integer(3), query.text(4), query.text(5),
                        query.text(6), query.integer(7), query.text(8), query.integer(9), query.integer(10),
                        query.real(11), query.real(12), query.text(13)});
    return rows;
}

}  // namespace deft::results_db
