#include "results_db/sweep_curves.h"

#include <algorithm>
#include <vector>

#include "base/json.h"
#include "results_db/nonfinite.h"
#include "results_db/record_row.h"

namespace deft::results_db {

namespace {

const std::string kMembers =
    "WITH members AS MATERIALIZED (SELECT DISTINCT m.experiment_id FROM sweep_member m WHERE m.sweep_id = ?1) ";

using Curves = std::map<std::string, TrialCurve>;

// The steps of an attempt that count, up to the last.
struct KeptSteps {
    std::int64_t attempt_id = 0, last = 0;
};

// Rows of one attempt at a time come in the order of the table, and need no sort of the whole sweep.
class CurveQueries {
 public:
    explicit CurveQueries(Connection& connection)
        : kept_(connection,
                "SELECT k.attempt_id, ifnull(k.last_step, 9223372036854775807) FROM v_kept k"
                " JOIN attempt a ON a.id = k.attempt_id WHERE k.experiment_id = ?1 ORDER BY a.number"),
          points_(connection, ("SELECT " + columns_of<journal::TrainPoint>() +
                               " FROM train_point WHERE attempt_id = ?1 AND step <= ?2 ORDER BY step")
                                  .c_str()),
          sampling_(connection,
                    "SELECT step, pool, drawn, repeated, cut_tokens, padded_tokens FROM sampling_point"
                    " WHERE attempt_id = ?1 AND step <= ?2 ORDER BY step") {}

    void add(std::int64_t trial_id, const std::string& config_hash, bool with_points, Curves& curves) {
        TrialCurve curve;
        for (const KeptSteps& kept : kept_of(trial_id)) {
            if (with_points) {
                points_.bind(kept.attempt_id, kept.last);
                while (points_.step()) curve.points.push_back(record_of<journal::TrainPoint>(points_));
            }
            sampling_.bind(kept.attempt_id, kept.last);
            while (sampling_.step())
                curve.sampling.push_back({sampling_.integer(0), sampling_.integer(1), sampling_.integer(2),
                                          sampling_.integer(3), sampling_.integer(4), sampling_.integer(5)});
        }
        sort_by_step(curve.points);
        sort_by_step(curve.sampling);
        if (!curve.points.empty() || !curve.sampling.empty()) curves.emplace(config_hash, std::move(curve));
    }

 private:
    std::vector<KeptSteps> kept_of(std::int64_t trial_id) {
        std::vector<KeptSteps> all;
        kept_.bind(trial_id);
        while (kept_.step()) all.push_back({kept_.integer(0), kept_.integer(1)});
        return all;
    }

    // A later attempt goes on from before its first step, so its rows follow unless a journal is of another program.
    template <class Row>
    static void sort_by_step(std::vector<Row>& rows) {
        const auto is_earlier = [](const Row& a, const Row& b) { return a.step < b.step; };
        if (!std::is_sorted(rows.begin(), rows.end(), is_earlier))
            std::stable_sort(rows.begin(), rows.end(), is_earlier);
    }

    Statement kept_, points_, sampling_;
};

void add_validations(Connection& connection, std::int64_t sweep_id, Curves& curves) {
    Statement losses(connection, (kMembers + "SELECT e.config_hash, v.step, v.value, v.kind FROM members"
                                             " CROSS JOIN experiment e ON e.id = members.experiment_id"
                                             " CROSS JOIN attempt a ON a.experiment_id = e.id"
                                             " CROSS JOIN evaluation v ON v.attempt_id = a.id"
                                             " JOIN metric m ON m.id = v.metric_id WHERE v.task = 'validation'"
                                             " AND m.name = 'loss' AND m.unit = 'nats/token'"
                                             // From the training that is the result, and its scorings: each by
                                             // its own condition, so that neither reads all of the view.
                                             " AND (a.kind IS 'train' AND EXISTS (SELECT 1 FROM v_kept k WHERE"
                                             "   k.attempt_id = a.id AND v.step BETWEEN"
                                             "   k.after_step AND ifnull(k.last_step, 9223372036854775807))"
                                             "  OR a.kind IS NOT 'train' AND EXISTS (SELECT 1 FROM v_kept k WHERE"
                                             "   k.experiment_id = e.id AND k.is_result AND a.number > (SELECT"
                                             "   r.number FROM attempt r WHERE r.id = k.attempt_id)))"
                                             " ORDER BY e.id, v.step, a.number")
                                     .c_str());
    losses.bind(sweep_id);
    while (losses.step()) {
        auto& known = curves[losses.text(0)].validation_losses;
        if (!known.empty() && known.back().first == losses.integer(1)) known.pop_back();  // scored again since
        known.emplace_back(losses.integer(1), restore(losses.real(2), losses.integer(3)));
    }
}

// The newest attempt that drew anything counts from the trial's first step.
void add_epochs(Connection& connection, std::int64_t sweep_id, Curves& curves) {
    Statement epochs(connection,
                     (kMembers + "SELECT e.config_hash, a.epochs_json FROM members"
                                 " CROSS JOIN experiment e ON e.id = members.experiment_id"
                                 " JOIN v_kept k ON k.experiment_id = e.id JOIN attempt a ON a.id = k.attempt_id"
                                 " WHERE a.epochs_json IS NOT NULL ORDER BY e.id, a.number")
                         .c_str());
    epochs.bind(sweep_id);
    while (epochs.step()) {
        const Json numbers = try_parse_json(epochs.text(1));
        if (!numbers.is_array()) continue;
        std::vector<double>& into = curves[epochs.text(0)].epochs;
        into.clear();
        for (const Json& number : numbers) into.push_back(number.is_number() ? number.get<double>() : 0);
    }
}

}  // namespace

std::map<std::string, TrialCurve> curves_of_sweep(Connection& connection, std::int64_t sweep_id,
                                                  const std::set<std::string>* with_points) {
    Curves curves;
    CurveQueries queries(connection);
    Statement trials(connection, (kMembers + "SELECT e.id, e.config_hash FROM members"
                                             " JOIN experiment e ON e.id = members.experiment_id ORDER BY e.id")
                                     .c_str());
    trials.bind(sweep_id);
    while (trials.step()) {
        const std::string config_hash = trials.text(1);
        queries.add(trials.integer(0), config_hash, with_points == nullptr || with_points->contains(config_hash),
                    curves);
    }
    add_validations(connection, sweep_id, curves);
    add_epochs(connection, sweep_id, curves);
    return curves;
}

}  // namespace deft::results_db
