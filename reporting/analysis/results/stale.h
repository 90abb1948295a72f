#pragma once
// Results that would be others today: because the program trains or scores in another way, or because their data, their
// task or its records have changed since. Who knows what these are today says so in a plain value; this folder compares
// it with what the database keeps of each result.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "reporting/analysis/results/results.h"
#include "reporting/analysis/results/rows.h"
#include "reporting/table.h"

namespace deft::reporting {

// Reasons that make a result stale. Training: code (its result epoch), data (of any kind that it reads from files).
// scoring: eval (the task's file, its records, the scoring version).
inline constexpr const char* kByCode = "code";
inline constexpr const char* kByData = "data";
inline constexpr const char* kByEval = "eval";

// The hash of something today, or why it is unknown.
struct InputNow {
    std::string sha256, unknown;
};
struct TaskNow {
    std::string definition_sha256, task_sha256, unknown;
};

struct TrialNow {
    std::map<std::string, InputNow> inputs;  // by the keys that lead to the hash in a configuration: "data.sha256"
    std::map<std::string, TaskNow> tasks;    // by score key
};

struct Current {
    std::int64_t result_epoch = 0, scoring_version = 0;
    std::map<std::string, TrialNow> trials;  // by configuration hash; of one that is absent nothing is said
};

// Fills `stale` and `unchecked` of all trials and their scores. `stale`: reasons as in "code: result epoch 3, now 4;
// data: the training data has changed". A trial whose start is another trial of the sweep that is stale is stale for
// its reasons.
void mark_stale(Results& sweep, const Current& now);

// Why a configuration's training is stale when it would be `now` today: reasons as above; empty: it is not. Both
// as experiments store configurations.
std::string training_differences(const Json& then, const Json& now);

// The kinds among reasons.
std::set<std::string> kinds_of(const std::string& stale);
// Reasons in a row, each once.
void add_reasons(std::string& to, const std::string& stale);
std::string with_reasons(std::string stale, const std::string& more);

// Why the training of a row is stale, for any finished seed.
std::string stale_training(const Row& row);

}  // namespace deft::reporting
