#pragma once
// The tasks of a sweep before anything is trained: a mistake in one would otherwise show after the last trial.

#include <vector>

#include "sweeps/spec/expand.h"

namespace deft::sweeps {

// The first records of each task that these trials are scored by or trained on. Errors: config, with task file and
// record.
void check_tasks(const std::vector<Trial>& trials);

}  // namespace deft::sweeps
