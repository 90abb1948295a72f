#pragma once
// The identity of a score among those of a sweep: the task as it was asked, and the metric.

#include <cstdint>
#include <string>

#include "base/json.h"
#include "reporting/analysis/results/results.h"

namespace deft::reporting {

struct ScoreId {
    std::string task, split;
    std::int64_t shots = 0;
    std::string metric, unit;
    std::string better;           // lower | higher | none
    bool under_capacity = false;  // experts kept to training's capacity

    auto operator<=>(const ScoreId&) const = default;
};

ScoreId id_of(const Score& score);

// "lambada acc (10-shot)": for a sentence or a line.
std::string title(const ScoreId& id);
// The same parts below one another, with capacity and split: for a column of a wide table.
std::string stacked_title(const ScoreId& id);
// "lambada acc shots=10 under capacity": a word of a command line or a file. With its split: " split=test" at the end.
std::string column_key(const ScoreId& id);
std::string column_key_with_split(const ScoreId& id);
// "score/lambada/acc/10-shot/test", and "/under_capacity": for other programs. It does not change with titles.
std::string stable_id(const ScoreId& id);
// ", 10 shots, split test, under capacity": the conditions of a value, after its number of documents.
std::string conditions(const ScoreId& id);
// {"task", "metric", "unit", "better", "split", "shots", "id"}, the last of stable_id().
OrderedJson to_json(const ScoreId& id);

}  // namespace deft::reporting
