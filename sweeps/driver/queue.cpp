#include "sweeps/driver/queue.h"

#include <algorithm>

namespace deft::sweeps {

namespace {

constexpr int kMostTries = 2;

bool may_succeed_again(const results_db::Outcome& outcome) {
    return outcome.state == "timeout" ||
           (outcome.state == "failed" && (outcome.fail_class == "crash" || outcome.fail_class == "io"));
}

}  // namespace

TrialQueue make_queue(const std::vector<Trial>& trials, const std::string& spec_sha256,
                      const std::function<bool(std::size_t)>& is_left) {
    TrialQueue queue;
    queue.tries.resize(trials.size(), 0);
    for (const std::size_t trial : execution_order(trials, spec_sha256))
        if (is_left(trial)) queue.waiting.push_back(trial);
    return queue;
}

std::optional<Placement> take_next(TrialQueue& queue, std::size_t slots,
                                   const std::function<bool(std::size_t slot)>& is_busy,
                                   const std::function<bool(Placement)>& may_start) {
    for (std::size_t slot = 0; slot < slots; ++slot) {
        if (is_busy(slot)) continue;
        const auto first = std::find_if(queue.waiting.begin(), queue.waiting.end(), [&](std::size_t trial) {
            return may_start({trial, slot});
        });
        if (first == queue.waiting.end()) continue;
        const Placement placement{*first, slot};
        queue.waiting.erase(first);
        ++queue.tries[placement.trial];
        return placement;
    }
    return std::nullopt;
}

void put_to_score(TrialQueue& queue, std::size_t trial) {
    queue.waiting.push_front(trial);
    queue.tries[trial] = 0;
}

void put_back(TrialQueue& queue, std::size_t trial) {
    queue.waiting.push_front(trial);
    --queue.tries[trial];
}

void hold(TrialQueue& queue, std::size_t trial) {
    queue.held.push_back(trial);
}

bool try_again(TrialQueue& queue, std::size_t trial, const results_db::Outcome& outcome) {
    if (!may_succeed_again(outcome) || queue.tries[trial] >= kMostTries) return false;
    queue.waiting.push_front(trial);
    return true;
}

}  // namespace deft::sweeps
