#pragma once
// The keys of a task file: what they hold and mean. `deft keys` and the schema of task files follow from these; the
// parser takes the words from here that a key may hold.

#include <vector>

#include "base/key_table.h"
#include "experiments/evaluation/task.h"

namespace deft::experiments {

const Fields& fields_of(const Task& task);  // those outside of tables
const Fields& fields_of(const RecordSource& source);
const Fields& fields_of(const TaskPrompt& prompt);
const Fields& fields_of(const TaskPerplexity& perplexity);
const Fields& fields_of(const TaskGeneration& generation);
const Fields& fields_of(const TaskTexts& texts);

// All of them; the first one is the file itself.
std::vector<KeyTable> task_tables();

// JSON Schema, draft-07, of task files.
Json task_schema();

}  // namespace deft::experiments
