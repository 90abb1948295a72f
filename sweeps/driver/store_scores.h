#pragma once
// Scores that are added to a trained model outside of any sweep.

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/attempt.h"
#include "experiments/config.h"
#include "results_db/rows.h"

namespace deft::sweeps {

struct StoredScores {
    int exit_code = 0;
    std::size_t scored = 0, known = 0;  // tasks: in this call, and before it
    std::vector<std::string> said;      // of what a killed driver had left
};

// Scores the trial's model by the tasks of config.eval, with its attempt, journal and run folder below the root, as a
// sweep would, and adds them to the results database; what it was scored by already is left alone. Validation is not
// asked again. What a killed driver left is put in order first. Ctrl-C ends it: tasks that were scored whole are kept.
// Errors: database, where a driver is writing it; missing, where the trial is not trained to its end, or its checkpoint
// is gone.
StoredScores store_scores(const std::filesystem::path& root, const results_db::StoredTrial& trial,
                          const experiments::TrialConfig& config, const experiments::TrialSlot& slot);

}  // namespace deft::sweeps
