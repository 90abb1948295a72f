#include "sweeps/driver/work_left.h"

#include <algorithm>

#include "base/error.h"
#include "base/score_key.h"
#include "engine/train/checkpoint.h"

namespace deft::sweeps {

std::vector<std::string> WorkLeft::unscored(std::size_t trial) const {
    return writer_.unscored(recorded_.trial_ids[trial], trials_[trial].score_keys());
}

bool WorkLeft::asks_for_validation(std::size_t trial) const {
    const std::vector<std::string> keys = unscored(trial);
    return std::any_of(trials_[trial].scores.begin(), trials_[trial].scores.end(), [&](const auto& request) {
        return request.task == kValidationTask && std::find(keys.begin(), keys.end(), request.key) != keys.end();
    });
}

std::optional<std::filesystem::path> WorkLeft::checkpoint_of(std::size_t trial) const {
    return checkpoint_to_score(writer_, options_.root, recorded_.trial_ids[trial]);
}

bool WorkLeft::can_be_scored(std::size_t trial) const {
    const auto found = checkpoint_of(trial);
    if (!found || !options_.retrain) return found.has_value();
    try {
        engine::verify_checkpoint(*found, engine::CheckpointFiles::model);
        return true;
    } catch (const Error&) {
        return false;
    }
}

results_db::Work WorkLeft::work_of(std::size_t trial) const {
    const bool trains = !is_trained(trial) || is_retrained(trial);
    return trains ? results_db::Work::train : results_db::Work::score;
}

bool WorkLeft::has_start(std::size_t trial) const {
    const std::optional<std::size_t>& parent = trials_[trial].parent;
    return !parent || (is_trained(*parent) && !is_retrained(*parent));
}

Assignment WorkLeft::assignment_of(std::size_t trial) const {
    Assignment assignment;
    assignment.work = work_of(trial);
    if (assignment.work == results_db::Work::train) {
        if (const auto& parent = trials_[trial].parent) assignment.start = checkpoint_of(*parent).value_or("");
        return assignment;
    }
    assignment.keys = unscored(trial);
    if (const auto found = checkpoint_of(trial)) assignment.checkpoint = *found;
    return assignment;
}

}  // namespace deft::sweeps
