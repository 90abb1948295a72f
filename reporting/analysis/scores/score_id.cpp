#include "reporting/analysis/scores/score_id.h"

#include <fmt/format.h>

#include "base/score_key.h"

namespace deft::reporting {

ScoreId id_of(const Score& score) {
    return {score.task,
            score.split,
            score.shots,
            score.measure,
            score.unit,
            score.better,
            is_under_capacity(score.score_key)};
}

std::string title(const ScoreId& id) {
    return id.task + " " + id.metric + (id.shots > 0 ? fmt::format(" ({}-shot)", id.shots) : "");
}

std::string stacked_title(const ScoreId& id) {
    std::string text = id.task + "\n" + id.metric;
    if (id.shots > 0) text += fmt::format("\n{}-shot", id.shots);
    if (id.under_capacity) text += "\nunder capacity";
    if (!id.split.empty()) text += "\n" + id.split;
    return text;
}

std::string column_key(const ScoreId& id) {
    return fmt::format("{} {}{}{}", id.task, id.metric, id.shots > 0 ? fmt::format(" shots={}", id.shots) : "",
                       id.under_capacity ? " under capacity" : "");
}

std::string column_key_with_split(const ScoreId& id) {
    return column_key(id) + " split=" + id.split;
}

std::string stable_id(const ScoreId& id) {
    std::string text = fmt::format("score/{}/{}", id.task, id.metric);
    if (id.shots > 0) text += fmt::format("/{}-shot", id.shots);
    if (!id.split.empty()) text += "/" + id.split;
    return text + (id.under_capacity ? "/under_capacity" : "");
}

std::string conditions(const ScoreId& id) {
    std::string text;
    if (id.shots > 0) text += fmt::format(", {} shots", id.shots);
    if (!id.split.empty()) text += ", split " + id.split;
    if (id.under_capacity) text += ", under capacity";
    return text;
}

OrderedJson to_json(const ScoreId& id) {
    return {{"task", id.task},   {"metric", id.metric}, {"unit", id.unit},    {"better", id.better},
            {"split", id.split}, {"shots", id.shots},   {"id", stable_id(id)}};
}

}  // namespace deft::reporting
