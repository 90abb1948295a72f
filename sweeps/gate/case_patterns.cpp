#include "sweeps/gate/case_patterns.h"

#include <fnmatch.h>

#include <algorithm>

namespace deft::sweeps {

bool matches(const std::string& name, const std::vector<std::string>& patterns) {
    return patterns.empty() || std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
               return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
           });
}

void keep_matching(std::vector<reporting::BenchSeries>& series, const std::vector<std::string>& patterns) {
    std::erase_if(series, [&](const reporting::BenchSeries& one) { return !matches(one.case_name, patterns); });
}

}  // namespace deft::sweeps
