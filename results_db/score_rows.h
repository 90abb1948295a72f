#pragma once
// The scores of one training: which there are, which are missing, and of which model.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results_db/connection.h"
#include "results_db/rows.h"

namespace deft::results_db {

// The checkpoint of the newest attempt that trained to the end and left one; nothing where none did.
std::optional<Checkpoint> result_checkpoint(Connection& connection, std::int64_t trial_id);

// `model` below is that checkpoint.

// The subset of the keys that this model was not scored by, in their order.
std::vector<std::string> unscored_keys(Connection& connection, std::int64_t trial_id,
                                       const std::optional<Checkpoint>& model, const std::vector<std::string>& keys);

// A sweep's [{"task", "shots", "key"}], and whether each is scored. What is none of these is left out.
std::vector<AskedScore> asked_scores(Connection& connection, std::int64_t trial_id,
                                     const std::optional<Checkpoint>& model, const std::string& json);

// One row per measure: the newest that was asked for, of the model that is the result now, or else the newest. By task,
// split, shots and measure. Partial scores of a killed attempt do not count.
std::vector<ScoreRow> scores_of(Connection& connection, std::int64_t trial_id, const std::optional<Checkpoint>& model,
                                const std::vector<AskedScore>& asked);

// The results of the newest scoring of a task, or of the newest with that key, one document after another; empty: none
// were kept.
std::string items_of(Connection& connection, const std::string& config_hash, const std::string& task,
                     std::int64_t shots, const std::string* score_key = nullptr);

}  // namespace deft::results_db
