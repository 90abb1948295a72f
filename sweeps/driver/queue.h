#pragma once
// Which trials a run has left, and which of them starts next, on which slot.

#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "results_db/writer.h"
#include "sweeps/driver/slots.h"
#include "sweeps/spec/expand.h"

namespace deft::sweeps {

struct TrialQueue {
    std::deque<std::size_t> waiting;  // places of trials, the next one first
    std::vector<int> tries;           // of each trial, in this run
    std::vector<std::size_t> held;    // places of trials that do not start again in this run
};

// The trials that are left, in the order of execution.
TrialQueue make_queue(const std::vector<Trial>& trials, const std::string& spec_sha256,
                      const std::function<bool(std::size_t)>& is_left);

struct Placement {
    std::size_t trial = 0, slot = 0;
};
// Takes the first waiting trial that may start in a free slot out of the queue. Nothing where none may.
std::optional<Placement> take_next(TrialQueue& queue, std::size_t slots,
                                   const std::function<bool(std::size_t slot)>& is_busy,
                                   const std::function<bool(Placement)>& may_start);

// Puts a trial that was trained to the front again, to be scored: that is another piece of work.
void put_to_score(TrialQueue& queue, std::size_t trial);

// Puts a trial that was stopped back to the front. That it was stopped was none of its tries.
void put_back(TrialQueue& queue, std::size_t trial);

// Keeps a trial that somebody else stopped for a later run.
void hold(TrialQueue& queue, std::size_t trial);

// Returns a failed trial to the front where another try may succeed and one is left. False: it has failed
// for good.
bool try_again(TrialQueue& queue, std::size_t trial, const results_db::Outcome& outcome);

}  // namespace deft::sweeps
