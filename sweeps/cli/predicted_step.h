#pragma once
// The tables and JSON of a step that engine/bench/step_model.h predicts: labelled as predicted, with every source.

#include <string>
#include <vector>

#include "base/json.h"
#include "engine/bench/step_model.h"
#include "reporting/table.h"

namespace deft::cli {

struct PredictedTrial {
    std::string name;
    engine::StepProfile profile;  // recorded on Device::none
    engine::DType dtype = engine::DType::bf16;
    double tokens = 0, flops = 0;  // of the step, as deft bench counts them; 0: not stated
};

reporting::Table predicted_table(const PredictedTrial& trial, const engine::CardModel& card);
Json predicted_json(const PredictedTrial& trial, const engine::CardModel& card);

// Notes under any table with predicted times: each rate of the card, each kind's share, and where the numbers are from.
std::vector<std::string> prediction_notes(const engine::CardModel& card, engine::DType dtype);
// The same for JSON: "label", "card", "rates", "efficiencies".
Json prediction_sources(const engine::CardModel& card, engine::DType dtype);

}  // namespace deft::cli
