#pragma once
// A sweep's results as reports read them: with what is stale, what was searched, and what was fine-tuned.

#include <optional>
#include <string>
#include <vector>

#include "reporting/analysis/results/settings.h"
#include "results_db/rows.h"

namespace deft::reporting {

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

}  // namespace deft::reporting
