#include "results_db/live_attempts.h"

#include "results_db/connection.h"

namespace deft::results_db {

std::vector<LiveAttempt> live_attempts(Connection& connection) {
    Statement query(connection,
                    "SELECT a.id, a.experiment_id, e.config_hash, a.workdir, a.pid, a.pid_start_ticks, a.boot_id,"
                    " a.kind, a.launcher, coalesce(a.started_ms, 0)"
                    " FROM attempt a JOIN experiment e ON e.id = a.experiment_id"
                    " WHERE a.state IN ('leased','running') ORDER BY a.id");
    std::vector<LiveAttempt> live;
    while (query.step())
        live.push_back({query.integer(0),
                        query.integer(1),
                        query.text(2),
                        query.text(3),
                        {query.integer(4), query.integer(5), query.text(6)},
                        query.text(7) == "train" ? Work::train : Work::score,
                        query.text(8),
                        query.integer(9)});
    return live;
}

}  // namespace deft::results_db
