#pragma once
// Scores as lm-evaluation-harness 0.4 writes its results, for its own tables and whatever else reads them.

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "reporting/analysis/results/results.h"

namespace deft::reporting {

// The scored model, for the file's head.
struct ScoredModel {
    std::string name;  // "baseline/1"
    std::string config_hash;
    std::string model_sha256;  // of its checkpoint; empty: unknown
    std::string git_sha;       // of the program that scored
};

// {"results": {"arc_easy": {"alias", "acc,none", "acc_stderr,none", ...}}, "versions", "n-shot", "higher_is_better",
// "n-samples", "config", "model_name", "git_hash"}. A task that was scored with several numbers of shots has an entry
// for each, "arc_easy_10shot", under one alias. Values are the harness's: shares, not percent; of a standard error that
// nobody knows "N/A".
Json lm_eval_results(const ScoredModel& model, const std::vector<Score>& scores);

}  // namespace deft::reporting
