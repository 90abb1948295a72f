#pragma once
// The records of a labelled task as texts and labels.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "experiments/evaluation/task.h"

namespace deft::experiments {

struct LabelledRecord {
    std::string first;
    std::optional<std::string> second;
    std::int32_t label = 0;  // of classification: which of the task's labels
    double value = 0;        // of regression
};

// Texts are cleaned. truncates: for regression, numbers lose their fraction, as in the published code of
// DeepSpeed's Data Efficiency. Errors: config, with task file and record: a field that is missing or of another type, a
// label that the task does not name, or a value that is not a number.
LabelledRecord labelled_record(const Task& task, const Records& records, const Record& record, bool truncates = false);

// As Megatron-DeepSpeed cleans the texts of GLUE: white space at both ends goes, a run of it becomes one space, and
// " . " becomes ". ".
std::string cleaned_text(std::string_view text);

}  // namespace deft::experiments
