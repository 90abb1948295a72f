#pragma once
// The conditions under which a repetition of a cell gives the same number.

#include <string>
#include <vector>

#include "reporting/analysis/trace/trace.h"

namespace deft::reporting {

// Sentences: the program, the machine, the ranks, the data, and what of a column no repetition gives back. Of trials
// that have a value; empty where none has.
std::vector<std::string> rests_on(const std::vector<TracedTrial>& trials, const TracedColumn& column, bool can_repeat);

}  // namespace deft::reporting
