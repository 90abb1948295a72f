#include "results_db/attempt_rows.h"

#include <utility>

#include "results_db/attempt_time.h"
#include "results_db/host_key.h"

namespace deft::results_db {

std::vector<AttemptRow> read_attempts(Connection& connection, std::int64_t trial_id, const char* kind) {
    Statement query(
        connection,
        "SELECT a.number, a.uid, a.state, a.fail_class, a.error, a.workdir, a.created_ms, a.started_ms,"  // 0..7
        " a.ended_ms, a.resume_step, a.device, a.devices, a.trials_per_device, a.own_seconds,"            // 8..13
        " a.device_seconds, a.usd, a.sku, a.price_date_ms, a.usd_per_hour, a.price_source,"               // 14..19
        // A join to the view would make the whole of it for each trial.
        " a.libraries_json, (SELECT k.is_result OR k.last_step IS NULL OR k.last_step > k.after_step"  // 20, 21
        "  FROM v_kept k WHERE k.attempt_id = a.id), a.start_note, a.ranks,"                           // 22, 23
        " c.git_sha, c.dirty, c.diff_sha256, c.binary_sha256, h.hostname, h.cpu_model, h.cores, a.machine_json,"  // 24..31
        " CASE json_valid(a.slots_json) WHEN 1 THEN json_extract(a.slots_json, '$.gpu_name') END, a.id"  // 32, 33
        " FROM attempt a LEFT JOIN code c ON c.id = a.code_id LEFT JOIN host h ON h.id = a.host_id"
        " WHERE a.experiment_id = ?1 AND a.kind = ?2 ORDER BY a.number");
    query.bind(trial_id, kind);
    std::vector<AttemptRow> rows;
    while (query.step()) {
        AttemptRow row;
        row.number = query.integer(0);
        row.uid = query.text(1);
        row.state = query.text(2);
        row.fail_class = query.text(3);
        row.error = query.text(4);
        row.workdir = query.text(5);
        row.created_ms = query.integer(6);
        row.started_ms = query.integer(7);
        row.ended_ms = query.integer(8);
        row.resume_step = query.integer(9);
        row.shape = {query.text(10), query.integer(11), query.integer(12), query.integer(23)};
        row.own_seconds = query.maybe_real(13);
        row.device_seconds = query.maybe_real(14);
        row.usd = query.maybe_real(15);
        if (!query.is_null(18)) row.price = Price{query.text(16), query.integer(17), query.real(18), query.text(19)};
        row.libraries_json = query.text(20);
        row.counts = !query.is_null(21) && query.integer(21) != 0;
        row.start_note = query.text(22);
        row.code.git_sha = query.text(24);
        row.code.dirty = query.integer(25) != 0;
        row.code.diff_sha256 = query.text(26);
        row.code.binary_sha256 = query.text(27);
        row.host.hostname = query.text(28);
        row.host.cpu_model = query.text(29);
        row.host.cores = query.integer(30);
        override_machine(row.host, query.text(31));
        row.gpu_name = query.text(32);
        add_time(connection, query.integer(33), row);
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace deft::results_db
