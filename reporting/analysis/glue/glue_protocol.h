#pragma once
// GLUE scores of a pretrained model by the protocol of the DeepSpeed Data Efficiency paper, whose published code
// is followed: of each task and learning rate the best epoch of every fine-tuning seed, the upper median over the
// seeds, and one rate for all tasks. Numbers are percents, rounded to two decimals where the code rounds.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace deft::reporting {

// A task, and the columns of the published table that it fills: MNLI has two.
struct GlueTask {
    std::string name;
    std::vector<std::string> columns;
};

// One fine-tuning, by the weights of its best epoch.
struct GlueRun {
    std::string task;
    double rate = 0;
    std::int64_t seed = 0;
    double chosen_by = 0;  // what seeds are compared by: the measure over all of its records
    std::vector<std::pair<std::string, double>> columns;  // by the column's name
    std::string lack = {};                                // why it has no value; empty: it has
};

struct GlueColumn {
    std::string name;
    double value = 0;              // of the seed in the middle
    std::optional<double> spread;  // sample standard deviation over the seeds; nothing for one
};

struct GlueAtRate {
    double rate = 0;
    std::vector<GlueColumn> columns;  // of the tasks that have a value
    std::optional<double> average;    // of the columns as they are rounded; nothing where a task has no value
    std::optional<double> spread;     // mean of the columns' spreads
    std::vector<std::string> lacks;   // "glue_cola at 2e-05: seed 3 is failed"
};

struct GlueResult {
    std::vector<GlueAtRate> rates;  // in the order of the runs
    std::optional<std::size_t>
        chosen;  // the rate of the best average, of equal ones the first; nothing where none has an average
};

// The upper median of an even number of values; at least one value is required.
double upper_median(std::vector<double> values);
// To two decimals, as Python's round().
double rounded_percent(double value);

// tasks: all that a rate needs, in the order of the columns.
GlueResult glue_protocol(const std::vector<GlueTask>& tasks, const std::vector<GlueRun>& runs);

}  // namespace deft::reporting
