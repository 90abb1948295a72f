#pragma once
// How a sweep is called at the head of whatever shows it.

#include <string>

#include "results_db/store.h"

namespace deft::reporting {

// "quickstart", or "quickstart@0123456789ab with train.learning_rate=0.001" where --set changed the file.
std::string sweep_text(const results_db::SweepHead& sweep);

// " (train.learning_rate=0.001)" to stand behind a caption; empty where --set changed nothing.
std::string overrides_suffix(const results_db::SweepHead& sweep);

}  // namespace deft::reporting
