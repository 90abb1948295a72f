#pragma once
// What a record's prompt is made of, and the worked examples in front of it.

#include <cstddef>
#include <string>
#include <vector>

#include "experiments/evaluation/python_random.h"
#include "experiments/evaluation/task.h"

namespace deft::experiments {

struct Prompt {
    std::vector<std::string> texts;    // one, or one a choice
    std::vector<std::string> choices;  // without the delimiter; of a last_word task: the target alone
    std::size_t gold = 0;

    const std::string& text_of(std::size_t choice) const { return texts[texts.size() == 1 ? 0 : choice]; }
};

// Errors: config, naming task file and record, for fields that are missing or of another type and for a gold index that
// no choice has.
Prompt make_prompt(const Task& task, const Records& records, const Record& record);

// The text of the right choice and that choice, as shots show it.
std::string worked_example(const Task& task, const Records& records, const Record& record);

// Indices of task.shots records of the pool. `self`: the evaluated record where the pool is its own split; then one
// more is drawn and records equal to it are dropped, as lm-evaluation-harness 0.2.0 does. Errors: config, for a pool
// that is too small.
std::vector<std::size_t> draw_shots(PythonRandom& random, const Task& task, const Records& pool, const Record* self);

}  // namespace deft::experiments
