#pragma once
// The prompt of a record, and the few-shot examples in front of it.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "experiments/evaluation/python_random.h"
#include "experiments/evaluation/task.h"

namespace deft::experiments {

struct Prompt {
    std::vector<std::string> texts;    // one, or one a choice
    std::vector<std::string> choices;  // without the delimiter; of a last_word task: the target alone; of short_answer:
                                       // the accepted answers but for those that begin with another
    std::size_t gold = 0;              // of short_answer: the choice that `shown` begins with
    std::string shown;                 // what a shot gives for the right answer

    // For multiple_choice with a list of right answers: these, and the answer of each choice.
    std::vector<std::string> answers, choice_answers;
    std::string group;  // whose documents acc_all takes together

    const std::string& text_of(std::size_t choice) const { return texts[texts.size() == 1 ? 0 : choice]; }
};

// Errors: config, naming task file and record, for fields that are missing or of another type, for a gold index that no
// choice has, and for a right answer that no choice is.
Prompt make_prompt(const Task& task, const Records& records, const Record& record);

// The text of the right choice and what is shown for it, as shots are.
std::string worked_example(const Task& task, const Records& records, const Record& record);

// Indices of task.shots records of the pool. `self`: the evaluated record where the pool is its own split; then one
// more is drawn and records equal to it are dropped, as lm-evaluation-harness 0.2.0 does. Errors: config, for a pool
// that is too small.
std::vector<std::size_t> draw_shots(PythonRandom& random, const Task& task, const Records& pool, const Record* self);

// The documents of a task in the order in which they are evaluated, and what is asked about each.

// How likely is the continuation after the context?
struct TextRequest {
    std::string context;  // shots included
    std::string continuation;
};

struct Document {
    std::size_t record = 0;                // index in the records' own order
    std::vector<std::size_t> shots;        // indices in the shot pool
    std::vector<std::size_t> shot_starts;  // the byte of the contexts where each of them begins
    std::vector<std::string> choices;      // without the delimiter
    std::vector<TextRequest> requests;     // one a choice
    std::size_t gold = 0;
    std::vector<std::string> answers, choice_answers;  // as in Prompt
    std::string group;

    bool is_right(std::size_t choice) const;  // of multiple_choice
};

// The first `limit` documents (0: all) of a multiple_choice or last_word task: Python's Random(42) shuffles the records
// (unless the task keeps the file's order) and goes on to draw the shots, document by document. `pool` is null where
// shots come from the records themselves. Errors: config, naming task file and record.
std::vector<Document> make_documents(const Task& task, const Records& records, const Records* pool, std::int64_t limit);

}  // namespace deft::experiments
