#pragma once
// Metrics of a model: one list of their names, directions, units and ranges. A new one is an entry here and its
// function in experiments/evaluation.

#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace deft {

enum class Better { lower, higher };

std::string_view to_text(Better better);

// The training data that a validation by the metric requires.
enum class ValidationData {
    none,        // no validation has the metric
    any,         // every kind of samples
    all_tokens,  // text whose every token is predicted
    classes,     // images, masked tokens or labels
    labels,      // texts with labels
};

// The part of a task's definition that the metric requires.
enum class TaskPart { none, groups, answers };

struct Metric {
    std::string_view name;
    Better better = Better::higher;
    std::string_view unit = {};  // empty: none. The unit of a loss depends on the samples
    double least = 0, most = std::numeric_limits<double>::infinity();
    ValidationData validates = ValidationData::none;
    TaskPart requires_part = TaskPart::none;
    bool is_binary = false;             // of two labels, where a task classifies
    bool is_of_data = false;            // of the data, whatever the model
    bool is_timed = false;              // read off a clock: every run differs, and only one kind of worker compares
    std::string_view correlation = {};  // its name; undefined where all predictions or all labels are equal
};

const std::vector<Metric>& metrics();

// Null for an unknown name.
const Metric* find_metric(std::string_view name);

bool is_timed(std::string_view metric);

// Metrics that a validation stores, by which the best weights can be selected.
std::vector<std::string> validation_metrics();

}  // namespace deft
