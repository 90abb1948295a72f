#include "sweeps/driver/prerequisites.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "reporting/text.h"

namespace deft::sweeps {

void Prerequisites::set_aside_without_checkpoint() {
    std::vector<std::string> gone;
    std::erase_if(state_.queue.waiting, [&](std::size_t trial) {
        if (!work_.is_trained(trial) || work_.can_be_scored(trial)) return false;
        if (options_.retrain) {
            work_.retrain(trial);
            return false;
        }
        gone.push_back(reporting::visible(trials_[trial].name()));
        ++state_.summary.failed;
        return true;
    });
    warn_of_gone(gone, "nothing can be scored");
}

void Prerequisites::set_aside_without_start() {
    std::vector<std::string> gone;
    std::vector<std::size_t> origins;  // to train again
    std::erase_if(state_.queue.waiting, [&](std::size_t trial) {
        const std::optional<std::size_t>& parent = trials_[trial].parent;
        if (!parent || work_.work_of(trial) == results_db::Work::score || !work_.is_trained(*parent) ||
            work_.checkpoint_of(*parent))
            return false;
        if (options_.retrain) {
            retrain_origins(*parent, origins);
            return false;
        }
        gone.push_back(reporting::visible(trials_[*parent].name()));
        ++state_.summary.blocked;
        return true;
    });
    std::deque<std::size_t>& waiting = state_.queue.waiting;
    for (const std::size_t origin : origins)
        if (std::find(waiting.begin(), waiting.end(), origin) == waiting.end()) waiting.push_front(origin);
    if (gone.empty()) return;
    std::sort(gone.begin(), gone.end());
    gone.erase(std::unique(gone.begin(), gone.end()), gone.end());
    warn_of_gone(gone, "nothing can start from it");
    block_behind_missing();
}

// A trial that is to be trained again may itself start from one whose checkpoint is gone.
void Prerequisites::retrain_origins(std::size_t parent, std::vector<std::size_t>& origins) {
    for (std::optional<std::size_t> origin = parent;
         origin && work_.is_trained(*origin) && !work_.checkpoint_of(*origin); origin = trials_[*origin].parent)
        if (work_.retrain(*origin)) origins.push_back(*origin);
}

// Trials that wait for trials that are neither trained nor to be trained in this run.
void Prerequisites::block_behind_missing() {
    for (bool found = true; found;) {
        found = false;
        std::erase_if(state_.queue.waiting, [&](std::size_t trial) {
            if (work_.has_start(trial) || is_coming(*trials_[trial].parent)) return false;
            ++state_.summary.blocked;
            return found = true;
        });
    }
}

// Whether this run trains it, here or at another place of the sweep.
bool Prerequisites::is_coming(std::size_t trial) const {
    return std::any_of(state_.queue.waiting.begin(), state_.queue.waiting.end(),
                       [&](std::size_t other) { return work_.is_same_training(other, trial); }) ||
           std::any_of(state_.running.begin(), state_.running.end(),
                       [&](const Child& child) { return work_.is_same_training(child.trial, trial); });
}

void Prerequisites::warn_of_gone(std::vector<std::string> names, const char* what_cannot_be) {
    if (names.empty()) return;
    progress_.warning(fmt::format("{}: trained, but the checkpoint is gone, so {}; to train again: {} --retrain",
                                  fmt::join(names, ", "), what_cannot_be, options_.continue_with));
}

void Prerequisites::block_behind(std::size_t failed) {
    std::vector<std::string> names;
    std::vector<std::size_t> lost = {failed};
    std::erase_if(state_.queue.waiting, [&](std::size_t trial) {  // the same at another place of the sweep
        const bool is_same = work_.is_same_training(trial, failed);
        state_.summary.failed += is_same;
        return is_same;
    });
    for (std::size_t i = 0; i < lost.size(); ++i)
        std::erase_if(state_.queue.waiting, [&](std::size_t trial) {
            const std::optional<std::size_t>& parent = trials_[trial].parent;
            if (!parent || !work_.is_same_training(*parent, lost[i])) return false;
            lost.push_back(trial);
            names.push_back(reporting::visible(trials_[trial].name()));
            ++state_.summary.blocked;
            return true;
        });
    if (!names.empty())
        progress_.warning(fmt::format("blocked {}: {} from {}, which failed", fmt::join(names, ", "),
                                      names.size() == 1 ? "it starts" : "they start",
                                      reporting::visible(trials_[failed].name())));
}

}  // namespace deft::sweeps
