#pragma once
// One task under a trained model.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/journal.h"
#include "engine/core/backend.h"
#include "engine/data/tokenizer.h"
#include "engine/models/transformer.h"
#include "experiments/evaluation/items.h"
#include "experiments/evaluation/scoring.h"
#include "experiments/evaluation/task.h"

namespace deft::experiments {

struct TaskRun {
    const engine::Tokenizer& tokenizer;
    engine::Transformer& model;
    engine::Exec& exec;
    const engine::Backend& backend;
    std::int64_t batch;          // the model's largest micro-batch
    std::int64_t documents;      // the first n of the task's order; 0: all
    std::int64_t embedded_seed;  // of the corpus whose facts the embedded tasks ask for
    std::filesystem::path base_folder;
    std::int64_t step;
    BatchLoop loop = {};
    std::optional<std::int64_t> shots = {};  // in place of the task's own number, as with_shots() has it
};

struct TaskResult {
    std::vector<journal::Evaluation> scores;  // one a metric
    std::vector<Item> items;                  // of what asks documents, in the order of the file
    double cut_share = 0;                     // of the prompts: their context lost its beginning
    double mean_shots = 0;                    // whole ones that the model saw, a prompt
    std::string note;                         // what to know beside the scores: how much was cut; empty: nothing was
};

// A continuation longer than the model is scored window by window, and a text that is timed ends with the model's
// positions, which the task's version then says. Errors: config, for records that are missing or do not fit the task.
TaskResult evaluate_task(const Task& task, const TaskRun& run);

// Context and continuation encoded apart, as lm-evaluation-harness 0.2.0 does; an empty context is the end-of-document
// mark.
Request encode_request(const engine::Tokenizer& tokenizer, const TextRequest& request);

// The texts that a perplexity task scores, one or one a record, with what is counted of the first `limit` records
// (0: all).
struct ScoredTexts {
    std::vector<std::string> texts;
    TextTotals totals;  // log_likelihood and tokens are not filled
};
ScoredTexts scored_texts(const Task& task, const Records& records, std::int64_t limit);

}  // namespace deft::experiments
