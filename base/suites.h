#pragma once
// Suites of evaluation tasks, as experiments/suites.toml lists them.

#include <string>
#include <vector>

namespace deft {

struct SuiteTask {
    std::string name, measure;  // the measure that counts in the suite's average
};

struct Suite {
    std::string name, meaning;
    std::vector<SuiteTask> tasks;  // in the order of the published table

    const SuiteTask* find(const std::string& task) const;  // null where the suite has no such task
};

// Errors: config, with the place.
std::vector<Suite> parse_suites(const std::string& text, const std::string& file_name);

// The project's own, read once.
const std::vector<Suite>& project_suites();

// Errors: config, with the nearest name.
const Suite& project_suite(const std::string& name);

}  // namespace deft
