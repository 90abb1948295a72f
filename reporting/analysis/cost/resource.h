#pragma once
// The resources that training consumed, read off a trial.

#include <optional>
#include <string>
#include <vector>

#include "reporting/analysis/results/results.h"
#include "reporting/analysis/results/rows.h"

namespace deft::reporting {

// The resources that a row's trials consumed: tokens, FLOPs, time, money.
struct Resource {
    const char* title;
    std::optional<double> (*value)(const Trial&);
    std::string (*print)(double);
    bool with_ratio;       // also as a multiple of the baseline's
    const char* quantity;  // how the quantities begin that it answers (reporting/analysis/scores/quantity.h)
    const char* raw_unit = "";
    bool from_seconds =
        false;  // time, or what follows from it: compares as reporting/analysis/cost/comparable_seconds.h says
    double (*stated)(const results_db::ImportedModel&) = nullptr;  // of an imported model; null: nobody states it
    const char* csv_title = "";                                    // as Column::csv_title
    const char* id = "";                                           // as Column::id, and the column of v_trial
};

const std::vector<Resource>& resources();

// Whether the row's time was spent on workers of different shapes, and so compares with nothing.
bool is_mixed(const Row& row, const Resource& resource);
// One value an independent repeat; none where a finished seed lacks it.
std::vector<double> values_of(const Row& row, const Resource& resource);
// The mean over finished seeds; nothing where one of them lacks it, for a mean over fewer would not be comparable.
std::optional<double> mean_of(const Row& row, const Resource& resource);

}  // namespace deft::reporting
