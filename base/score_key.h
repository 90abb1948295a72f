#pragma once
// Identity of a score apart from the model: the task's definition and records, and the way it is asked.

#include <cstdint>
#include <string>

namespace deft {

// Raised by hand whenever scoring gives other numbers for the same model and task: it is part of every score's key,
// reports mark scores of an older one as stale, and `deft run` scores again. Training has its own:
// experiments/result_epoch.h.
inline constexpr int kScoringVersion = 1;

// The task under which the loss on the validation text is scored. Its documents are tokens.
inline constexpr const char* kValidationTask = "validation";

// Common name for the splits of a labelled task.
inline constexpr const char* kAllSplits = "all splits";

// In place of the key of a score, for what a model is validated by while it trains: points of its curve, and scores of
// no result.
inline constexpr const char* kWhileTraining = "while training";

// task_sha256: over the task's definition and the bytes of its records; of validation, kValidationTask.
// documents: of the task, the first ones of its order; 0: all. capacity_samples: of a model whose experts keep to
// training's capacity while it is scored, the samples of a micro-batch, by whose rows that is counted; 0: nothing is
// dropped.
std::string score_key(const std::string& task_sha256, std::int64_t shots, std::int64_t documents,
                      std::int64_t capacity_samples = 0);

// Whether the key is of scores under capacity, which no table shows without saying so.
bool is_under_capacity(const std::string& key);

}  // namespace deft
