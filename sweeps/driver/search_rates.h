#pragma once
// The search of a sweep that has [search]: run before its table, which takes the rates that it finds.

#include <optional>
#include <vector>

#include "reporting/analysis/results/results.h"
#include "sweeps/driver/driver.h"
#include "sweeps/driver/slots.h"
#include "sweeps/spec/expand.h"
#include "sweeps/spec/spec.h"

namespace deft::sweeps {

struct Search {
    Spec spec;             // with the rates that were found
    bool is_whole = true;  // else the table cannot be trained yet
    RunSummary summary;    // of the search
};

// Runs what the search has left, for all rows of the table whatever is asked for with --only, since a rate is found for
// all or for none. A sweep without [search] is given back as it is; so is one of a dry run, which says what would be
// searched. `threads`: of a trial, as given to run; 0: as the sweep says. Errors: those of run_sweep(); missing, where
// all rates of a row diverged.
Search search_rates(const Spec& spec, const SlotRequest& slots, int threads, const DriverOptions& options);

// The sweep of these results, as `spec` gives it: itself; its search alone; or its table with the rates that the search
// found. Nothing where the results are of another sweep.
std::optional<Spec> spec_of_results(const Spec& spec, const reporting::Results& results);

// As spec_of_results(), by the trials themselves: a table whose seeds were joined keeps the hash of its first run,
// whose seeds are in no record. Nothing where a trial, a row or a score of the two differs.
std::optional<Spec> spec_of_trials(const Spec& spec, const reporting::Results& results);

// The trials of such a sweep.
std::vector<Trial> trials_of_results(const Spec& spec, Data data);

// The table's trials, followed by those of the search, which are only shown.
std::vector<Trial> with_search(const Spec& spec, std::vector<Trial> trials);

}  // namespace deft::sweeps
