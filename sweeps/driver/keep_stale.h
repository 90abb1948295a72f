#pragma once
// Which stale results a run measures again, and which it keeps. A trial's data and the result epoch are part of
// its configuration's hash, and a task and its records are part of a score's key, so that what has changed is new work
// unless it is taken back here.

#include <functional>
#include <string>
#include <vector>

#include "results_db/rows.h"
#include "sweeps/spec/expand.h"

namespace deft::sweeps {

// Kinds of staleness to repeat: code and data repeat the training and its scores, eval the scores alone.
struct RerunIf {
    bool code = true, data = true, eval = true;

    bool operator==(const RerunIf&) const = default;
};
// "code,data,eval", some of these, or "never". Errors: usage.
RerunIf parse_rerun_if(const std::string& text);

struct PlannedReruns {
    std::vector<Trial> trials;      // of what is kept with the data and the keys of then
    std::vector<std::string> said;  // for people: repeated and kept results, a line each
};

// Facts about trials from the database and the command line.
struct RerunFacts {
    // The database's record of this very sweep, as planned; its trials show the earlier result at each place.
    results_db::StoredSweep measured;
    // Whether a configuration of that hash is trained already, as when data is again what it once was: its result needs
    // no other.
    std::function<bool(const std::string&)> is_trained;
    // The configuration of a measured trial of that hash. Errors: database, where its row was changed.
    std::function<Json(const std::string&)> config_of;
    // Per trial: whether this run includes it; others get no note.
    std::vector<char> selected;
};

PlannedReruns plan_reruns(std::vector<Trial> trials, const RerunFacts& facts, const RerunIf& rerun_if);

}  // namespace deft::sweeps
