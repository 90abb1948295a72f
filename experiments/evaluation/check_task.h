#pragma once
// Mistakes that scoring would refuse at a task's first record, found before anything is trained.

#include "experiments/evaluation/task.h"

namespace deft::experiments {

// Makes the prompt, or the texts and the label, of the first record of each of the task's files. Files that are not
// here are left to whoever needs them. Errors: config, as of scoring, with task file and record.
void check_first_records(const Task& task);

}  // namespace deft::experiments
