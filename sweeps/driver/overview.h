#pragma once
// What a run is about to do, before it starts.

#include <string>
#include <vector>

#include "results_db/store.h"
#include "sweeps/spec/expand.h"
#include "sweeps/spec/spec.h"

namespace deft::sweeps {

struct Overview {
    std::size_t selected = 0;  // trials of this run, done or not
    std::size_t done = 0;
    double flops_left = 0;
    std::size_t slots = 1;
    std::string slots_text;  // "2 slots of 1 thread"
    double devices = 1;      // that a trial pays for
    double flops_per_second = 0;  // of one trial, from those already measured; 0: none yet
};

// FLOP/s of one trial, over those that are finished; 0 without any.
double measured_rate(const results_db::SweepResults& results);

std::vector<std::string> describe(const Spec& spec, const std::vector<Point>& points, const Overview& overview);

}  // namespace deft::sweeps
