#pragma once
// The curricula of a DeepSpeed configuration as [case.curriculum.METRIC].

#include <string>
#include <vector>

#include "experiments/import_deepspeed.h"
#include "experiments/json_reader.h"

namespace deft::experiments {

struct ImportedCurriculum {
    bool enabled = false;
    struct Metric {
        std::string name;  // ours
        std::string toml;  // its table, or a comment where it was not converted
        bool converted = false;
    };
    std::vector<Metric> metrics;
};

// data_efficiency.data_sampling.curriculum_learning
ImportedCurriculum import_curriculum(JsonReader section, std::vector<ImportNote>& notes);
// The section curriculum_learning at the root, into `curriculum`.
void import_legacy_curriculum(JsonReader section, ImportedCurriculum& curriculum, std::vector<ImportNote>& notes);

std::string curriculum_toml(const ImportedCurriculum& curriculum);

// Names the keys that nobody asked for.
void note_unread(const JsonReader& section, std::vector<ImportNote>& notes);

}  // namespace deft::experiments
