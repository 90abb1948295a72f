#pragma once
// A sweep's results as reports read them: with what is stale, what was searched, and what was fine-tuned.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reporting/analysis/settings.h"
#include "results_db/rows.h"

namespace deft::results_db {
class Reader;
}

namespace deft::reporting {

struct Current;

struct Score : results_db::ScoreRow {
    std::string stale = {};      // why its value would differ if it were measured now; empty: it would not
    std::string unchecked = {};  // why that is unknown
};

// Scores of a model after the sweep's later stages fine-tuned it on all tasks of a suite.
struct FineTuned {
    std::string suite;                 // "glue"
    std::optional<double> average;     // percent
    std::string lacks;                 // why there is none
    std::vector<std::string> columns;  // that the average is over
    std::string stale;                 // as that of a score
};

struct Trial : results_db::TrialRow {
    std::vector<Score> scores = {};
    Settings settings = {};
    std::string stale = {}, unchecked = {};  // as those of a score, of its training
    std::optional<FineTuned> fine_tuned = {};
};

struct Results : results_db::SweepHead {
    std::vector<Trial> trials = {};    // by ordinal
    std::vector<Trial> searched = {};  // trials of the learning-rate search, which no table counts
};

// The inputs that a stored sweep's results would have now.
using CurrentInputs = std::function<Current(const results_db::StoredSweep&)>;

// The stored trial with its settings parsed and nothing marked stale.
Trial trial_of(results_db::StoredTrial stored);

// The sweep, checked against its inputs. Reports read results in no other way.
Results load_results(results_db::StoredSweep stored, const CurrentInputs& inputs);
// As above, of the sweep with that name, or NAME@HASH. Errors: as results_db::Reader::sweep().
Results load_results(const results_db::Reader& reader, const std::string& selector, const CurrentInputs& inputs);

// Inputs of which nothing is known, for answers that depend on no input.
CurrentInputs unknown_inputs();

}  // namespace deft::reporting
