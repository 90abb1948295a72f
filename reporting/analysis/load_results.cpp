#include "reporting/analysis/load_results.h"

#include <utility>

#include "reporting/analysis/glue/glue_scores.h"
#include "reporting/analysis/results/stale.h"
#include "reporting/analysis/search/rate_search.h"
#include "results_db/reader.h"

namespace deft::reporting {

Settings settings_of(const results_db::StoredTrial& trial) {
    return trial.config ? settings_of(trial.config) : parse_settings(trial.config_json);
}

Trial trial_of(results_db::StoredTrial stored) {
    Trial trial;
    trial.settings = settings_of(stored);
    for (results_db::ScoreRow& score : stored.scores) trial.scores.push_back({std::move(score)});
    static_cast<results_db::TrialRow&>(trial) = std::move(stored);
    return trial;
}

Results load_results(results_db::StoredSweep stored, const CurrentInputs& inputs) {
    const Current now = inputs(stored);
    Results results;
    static_cast<results_db::SweepHead&>(results) = stored;
    for (results_db::StoredTrial& trial : stored.trials) results.trials.push_back(trial_of(std::move(trial)));
    mark_stale(results, now);
    split_search_trials(results);
    add_fine_tuned(results);
    return results;
}

Results load_results(const results_db::Reader& reader, const std::string& selector, const CurrentInputs& inputs) {
    return load_results(reader.sweep(selector), inputs);
}

CurrentInputs unknown_inputs() {
    return [](const results_db::StoredSweep&) { return Current{}; };
}

}  // namespace deft::reporting
