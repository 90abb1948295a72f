#pragma once
// The documents of a task in the order in which they are evaluated, and what is asked about each.

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/evaluation/task.h"

namespace deft::experiments {

// How likely is the continuation after the context?
struct TextRequest {
    std::string context;  // shots included
    std::string continuation;
};

struct Document {
    std::size_t record = 0;             // index in the records' own order
    std::vector<std::size_t> shots;     // indices in the shot pool
    std::vector<std::string> choices;   // without the delimiter
    std::vector<TextRequest> requests;  // one a choice
    std::size_t gold = 0;
};

// The first `limit` documents (0: all) of a multiple_choice or last_word task: Python's Random(42) shuffles the records
// (unless the task keeps the file's order) and goes on to draw the shots, document by document. `pool` is null where
// shots come from the records themselves. Errors: config, naming task file and record.
std::vector<Document> make_documents(const Task& task, const Records& records, const Records* pool, std::int64_t limit);

}  // namespace deft::experiments
