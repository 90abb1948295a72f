#pragma once
// Configurations whose data need not be here.

#include <string>

#include "base/config.h"
#include "experiments/config.h"

namespace deft::test {

// With hashes in place of those of data that need not be here.
inline experiments::TrialConfig with_known_data(const std::string& toml) {
    experiments::TrialConfig config = experiments::parse_trial_config(parse_toml(toml, "t.toml"), 5, "/base");
    config.data.sha256 = "of data";
    if (config.data.vocab == 0) config.data.vocab = 300;
    for (const std::string& task : config.eval.tasks) config.eval.asked.push_back({task, "of a task", 0});
    if (config.curriculum)
        for (experiments::CurriculumMetric& metric : config.curriculum->metrics)
            if (!metric.column.empty()) metric.column_sha256 = "of a column";
    return config;
}

}  // namespace deft::test
