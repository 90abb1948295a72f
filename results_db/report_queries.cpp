#include "results_db/report_queries.h"

#include "results_db/nonfinite.h"
#include "results_db/point_row.h"

namespace deft::results_db {

namespace {

const std::string kMembers =
    "WITH members AS MATERIALIZED (SELECT DISTINCT m.experiment_id FROM sweep_member m WHERE m.sweep_id ="
    "  (SELECT s.id FROM sweep s WHERE s.name = ?1 ORDER BY s.use_order DESC LIMIT 1)) ";

// Each experiment of the sweep once, with the attempt that stands for it.
const std::string kShown =
    "WITH shown AS MATERIALIZED (SELECT e.config_hash AS hash, (SELECT b.id FROM attempt b WHERE b.experiment_id = e.id"
    "  ORDER BY b.state = 'ok' DESC, b.number DESC LIMIT 1) AS attempt_id"
    " FROM experiment e WHERE e.id IN (SELECT m.experiment_id FROM sweep_member m WHERE m.sweep_id ="
    "  (SELECT s.id FROM sweep s WHERE s.name = ?1 ORDER BY s.use_order DESC LIMIT 1))) ";

}  // namespace

std::map<std::string, TrialCurve> curves_of_sweep(Connection& connection, const std::string& sweep) {
    std::map<std::string, TrialCurve> curves;
    Statement points(connection, (kMembers + "SELECT e.config_hash, " + kPointColumns +
                                  " FROM members CROSS JOIN experiment e ON e.id = members.experiment_id"
                                  " JOIN v_curve p ON p.experiment_id = e.id ORDER BY e.id, p.step")
                                     .c_str());
    points.bind(sweep);
    while (points.step()) curves[points.text(0)].points.push_back(point_of(points, 1));
    Statement losses(connection, (kShown + "SELECT hash, v.step, v.value, v.kind FROM shown"
                                           " CROSS JOIN evaluation v ON v.attempt_id = shown.attempt_id"
                                           " JOIN metric m ON m.id = v.metric_id WHERE v.task = 'validation'"
                                           " AND m.name = 'loss' AND m.unit = 'nats/token' ORDER BY hash, v.step")
                                     .c_str());
    losses.bind(sweep);
    while (losses.step())
        curves[losses.text(0)].validation_losses.emplace_back(losses.integer(1),
                                                              restore(losses.real(2), losses.integer(3)));
    return curves;
}

std::vector<Checkpoint> checkpoints_of_sweep(Connection& connection, const std::string& sweep) {
    Statement query(connection, (kShown + "SELECT hash, f.path, f.sha256, r.step, f.bytes FROM shown"
                                          " JOIN attempt_artifact r ON r.attempt_id = shown.attempt_id"
                                          " JOIN artifact f ON f.id = r.artifact_id WHERE f.kind = 'checkpoint'"
                                          " ORDER BY hash, r.step, f.path")
                                    .c_str());
    query.bind(sweep);
    std::vector<Checkpoint> checkpoints;
    while (query.step())
        checkpoints.push_back({query.text(0), query.text(1), query.text(2), query.integer(3), query.integer(4)});
    return checkpoints;
}

}  // namespace deft::results_db
