#pragma once
// The part of a trial's stored results that answers a published column or a claim, named by a short text:
//
//     task:NAME METRIC [shots=N] [split=NAME] [seeds=mean|median]    as in "task:lambada acc shots=10"
//     suite:NAME average [shots=N] [seeds=mean|median]               as in "suite:data_efficiency average"
//     a resource of training                                         as in "train hours", "cost usd"

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"

namespace deft::reporting {

struct Quantity {
    enum class Kind { task, suite, resource };

    Kind kind = Kind::resource;
    std::string name;    // of the task or suite; of a resource all its words
    std::string metric;  // "acc"; "average" of a suite; empty of a resource
    std::string split;   // of a task; empty: whichever was scored
    std::int64_t shots = 0;
    bool is_median = false;  // over seeds, which otherwise are averaged

    bool operator==(const Quantity&) const = default;
};

// Errors: config, with the place and the nearest word that is known: tasks in experiments/tasks with their metrics and
// splits, suites in experiments/suites.toml, resources.
Quantity parse_quantity(const std::string& text, const Place& place);

// The shortest text that parses to it.
std::string to_text(const Quantity& quantity);

// lower | higher.
std::string better_of(const Quantity& quantity);

// "train hours", ...
const std::vector<std::string>& resource_quantities();

}  // namespace deft::reporting
