#pragma once
// The keys of a task file, with their values and meanings. `deft keys`, the schema of task files and the parser use
// these tables.

#include <vector>

#include "base/key_table.h"
#include "experiments/evaluation/task.h"

namespace deft::experiments {

const Fields& fields_of(const Task& task);  // keys outside of tables
const Fields& fields_of(const RecordSource& source);
const Fields& fields_of(const TaskPrompt& prompt);
const Fields& fields_of(const TaskPerplexity& perplexity);
const Fields& fields_of(const TaskGeneration& generation);
const Fields& fields_of(const TaskTexts& texts);

// All tables; the first one is the file itself.
std::vector<KeyTable> task_tables();

// JSON Schema, draft-07, of task files.
Json task_schema();

}  // namespace deft::experiments
