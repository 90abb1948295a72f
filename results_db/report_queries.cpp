#include "results_db/report_queries.h"

#include "base/json.h"
#include "results_db/nonfinite.h"
#include "results_db/record_row.h"

namespace deft::results_db {

namespace {

const std::string kMembers =
    "WITH members AS MATERIALIZED (SELECT DISTINCT m.experiment_id FROM sweep_member m WHERE m.sweep_id = ?1) ";

// Each experiment of the sweep once, with the attempt that stands for it.
const std::string kShown =
    "WITH shown AS MATERIALIZED (SELECT e.config_hash AS hash, (SELECT b.id FROM attempt b WHERE b.experiment_id = e.id"
    "  ORDER BY b.state = 'ok' DESC, b.number DESC LIMIT 1) AS attempt_id"
    " FROM experiment e WHERE e.id IN (SELECT m.experiment_id FROM sweep_member m WHERE m.sweep_id = ?1)) ";

// The newest attempt that drew anything counts from the trial's first step.
void add_sampling(Connection& connection, std::int64_t sweep_id, std::map<std::string, TrialCurve>& curves) {
    Statement points(connection,
                     (kMembers + "SELECT e.config_hash, p.step, p.pool, p.drawn, p.repeated, p.cut_tokens,"
                                 " p.padded_tokens FROM members CROSS JOIN experiment e ON e.id = members.experiment_id"
                                 " JOIN v_sampling p ON p.experiment_id = e.id ORDER BY e.id, p.step")
                         .c_str());
    points.bind(sweep_id);
    while (points.step())
        curves[points.text(0)].sampling.push_back({points.integer(1), points.integer(2), points.integer(3),
                                                   points.integer(4), points.integer(5), points.integer(6)});
    Statement epochs(connection,
                     (kMembers + "SELECT e.config_hash, a.epochs_json FROM members"
                                 " CROSS JOIN experiment e ON e.id = members.experiment_id"
                                 " JOIN v_kept k ON k.experiment_id = e.id JOIN attempt a ON a.id = k.attempt_id"
                                 " WHERE a.epochs_json IS NOT NULL ORDER BY e.id, a.number")
                         .c_str());
    epochs.bind(sweep_id);
    while (epochs.step()) {
        const Json numbers = Json::parse(epochs.text(1), nullptr, false);
        if (!numbers.is_array()) continue;
        std::vector<double>& into = curves[epochs.text(0)].epochs;
        into.clear();
        for (const Json& number : numbers) into.push_back(number.is_number() ? number.get<double>() : 0);
    }
}

}  // namespace

std::map<std::string, TrialCurve> curves_of_sweep(Connection& connection, std::int64_t sweep_id) {
    std::map<std::string, TrialCurve> curves;
    Statement points(connection, (kMembers + "SELECT e.config_hash, " + columns_of<journal::TrainPoint>() +
                                  " FROM members CROSS JOIN experiment e ON e.id = members.experiment_id"
                                  " JOIN v_curve p ON p.experiment_id = e.id ORDER BY e.id, p.step")
                                     .c_str());
    points.bind(sweep_id);
    while (points.step()) curves[points.text(0)].points.push_back(record_of<journal::TrainPoint>(points, 1));
    Statement losses(connection, (kShown + "SELECT hash, v.step, v.value, v.kind FROM shown"
                                           " CROSS JOIN evaluation v ON v.attempt_id = shown.attempt_id"
                                           " JOIN metric m ON m.id = v.metric_id WHERE v.task = 'validation'"
                                           " AND m.name = 'loss' AND m.unit = 'nats/token' ORDER BY hash, v.step")
                                     .c_str());
    losses.bind(sweep_id);
    while (losses.step())
        curves[losses.text(0)].validation_losses.emplace_back(losses.integer(1),
                                                              restore(losses.real(2), losses.integer(3)));
    add_sampling(connection, sweep_id, curves);
    return curves;
}

std::vector<Checkpoint> checkpoints_of_sweep(Connection& connection, std::int64_t sweep_id) {
    Statement query(connection, (kShown + "SELECT hash, f.path, f.sha256, r.step, f.bytes FROM shown"
                                          " JOIN attempt_artifact r ON r.attempt_id = shown.attempt_id"
                                          " JOIN artifact f ON f.id = r.artifact_id WHERE f.kind = 'checkpoint'"
                                          " ORDER BY hash, r.step, f.path")
                                    .c_str());
    query.bind(sweep_id);
    std::vector<Checkpoint> checkpoints;
    while (query.step())
        checkpoints.push_back({query.text(0), query.text(1), query.text(2), query.integer(3), query.integer(4)});
    return checkpoints;
}

}  // namespace deft::results_db
