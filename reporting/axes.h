#pragma once
// Where a trial stands in its sweep, as people name it.

#include <map>
#include <string>

namespace deft::reporting {

struct Axes {
    bool has_budget = false;
    double budget_fraction = 1;                 // of the baseline's tokens
    std::map<std::string, std::string> others;  // sorted, values as canonical JSON text

    std::string budget_text() const;  // "50%"
    std::string others_text() const;  // "model.layers=4, train.seqlen=128"
};

// What is no JSON object reads as no axes.
Axes parse_axes(const std::string& axes_json);

}  // namespace deft::reporting
