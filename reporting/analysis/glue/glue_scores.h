#pragma once
// The pretrained models of a sweep whose later stages fine-tune them on GLUE, each with what it comes to by the
// protocol. A pretraining is the unit; the fine-tuning seeds nest in it.

#include <string>
#include <vector>

#include "reporting/analysis/glue/glue_protocol.h"
#include "reporting/analysis/results/results.h"

namespace deft::reporting {

inline constexpr const char* kGlueSuite = "glue";  // in experiments/suites.toml

struct GlueOfModel {
    const Trial* model = nullptr;  // in the sweep
    GlueResult result;
    std::string stale;  // why scores among those of the rate that counts would be others today
};

struct GlueScores {
    std::vector<GlueTask> tasks;  // that any of the models is fine-tuned on, with the columns that were scored of any
    std::vector<std::string> not_here;  // columns of the published table that no trial scored
    std::vector<GlueOfModel> models;    // in the sweep's order
};

// "MNLI-m", ...: the columns of the published table, in its order.
std::vector<std::string> glue_columns();

// Empty where the sweep fine-tunes none.
GlueScores glue_scores(const Results& sweep);

// Why the model has no average, in a line; empty where it has one.
std::string lacks_text(const GlueResult& result);

// Whether all of its trials fine-tune models of other trials on GLUE: published pretraining results do not belong
// beside them.
bool only_fine_tunes(const Results& sweep);

// Fills in Trial::fine_tuned of those models.
void add_fine_tuned(Results& sweep);

// For a table that shows the averages: how they are computed, which models they omit, and why some have none.
std::vector<std::string> glue_notes(const GlueScores& scores);

}  // namespace deft::reporting
