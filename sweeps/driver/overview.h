#pragma once
// A run's intention, printed before it starts; a dry run prints nothing else.

#include <set>
#include <string>
#include <vector>

#include "results_db/reader.h"
#include "sweeps/driver/driver.h"

namespace deft::sweeps {

// Whether a configuration of that hash is trained.
bool is_trained(const results_db::Reader& reader, const std::string& config_hash);

struct Overview {
    std::size_t selected = 0;   // trials of this run, done or not
    std::size_t done = 0;       // trained and scored
    std::size_t merged = 0;     // of the sweep's trials, those merged from another root
    std::size_t to_score = 0;   // trained before, and to be scored
    std::size_t to_import = 0;  // models that are taken as they are
    double flops_left = 0;
    double flops_per_second = 0;  // of one trial, from those already measured; 0: none yet

    // A trial that is not done.
    void add_left(const Trial& trial, bool is_trained);
    void add_measured(const results_db::SweepPace& pace);

 private:
    std::set<std::string> counted_;  // trainings
};

std::vector<std::string> describe(const Spec& spec, const std::vector<Trial>& trials, const DriverOptions& options,
                                  const Overview& overview);

// Says what is done and what is left, as far as can be seen without writing anything. Errors: database.
RunSummary dry_run(const Spec& spec, const std::vector<Trial>& trials, const DriverOptions& options);

}  // namespace deft::sweeps
