#include "sweeps/driver/work_left.h"

#include <algorithm>

#include "base/error.h"
#include "base/score_key.h"
#include "engine/train/checkpoint.h"

namespace deft::sweeps {

std::vector<std::string> WorkLeft::unscored(std::size_t point) const {
    return writer_.unscored(recorded_.experiments[point], points_[point].score_keys());
}

bool WorkLeft::asks_for_validation(std::size_t point) const {
    const std::vector<std::string> keys = unscored(point);
    return std::any_of(points_[point].scores.begin(), points_[point].scores.end(), [&](const auto& request) {
        return request.task == kValidationTask && std::find(keys.begin(), keys.end(), request.key) != keys.end();
    });
}

std::optional<std::filesystem::path> WorkLeft::checkpoint_of(std::size_t point) const {
    return checkpoint_to_score(writer_, options_.root, recorded_.experiments[point]);
}

bool WorkLeft::can_be_scored(std::size_t point) const {
    const auto found = checkpoint_of(point);
    if (!found || !options_.retrain) return found.has_value();
    try {
        engine::verify_checkpoint(*found, engine::CheckpointFiles::model);
        return true;
    } catch (const Error&) {
        return false;
    }
}

results_db::Work WorkLeft::work_of(std::size_t point) const {
    const bool trains = !is_trained(point) || is_retrained(point);
    return trains ? results_db::Work::train : results_db::Work::score;
}

bool WorkLeft::has_start(std::size_t point) const {
    const std::optional<std::size_t>& parent = points_[point].parent;
    return !parent || (is_trained(*parent) && !is_retrained(*parent));
}

Assignment WorkLeft::assignment_of(std::size_t point) const {
    Assignment assignment;
    assignment.work = work_of(point);
    if (assignment.work == results_db::Work::train) {
        if (const auto& parent = points_[point].parent) assignment.start = checkpoint_of(*parent).value_or("");
        return assignment;
    }
    assignment.keys = unscored(point);
    if (const auto found = checkpoint_of(point)) assignment.checkpoint = *found;
    return assignment;
}

}  // namespace deft::sweeps
