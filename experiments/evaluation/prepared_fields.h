#pragma once
// Fields that lm-evaluation-harness derives from a record before it makes a prompt, where no template can say how: a
// prompt then names them like any other. A new preparation is a function and a line of the table.

#include <string_view>

#include "experiments/evaluation/records.h"

namespace deft::experiments {

// race: `context`, the article and its earlier questions with their answers, and the last question, which alone is
//     asked; its `choices` and the letter of the right one, `gold`.
// record: `context`, the passage with its highlights as a list; `choices`, a table {entity, line} for each entity of
// the
//     passage, whose line is the query with the entity in its place; `answers`. Of records unnested from qas.
// wsc: `passage`, the text with the pronoun between stars.
struct Preparation {
    const char* name;
    void (*apply)(const Records& records, Record& record, const Place& place);
};

// Null where none has that name.
const Preparation* find_preparation(std::string_view name);

}  // namespace deft::experiments
