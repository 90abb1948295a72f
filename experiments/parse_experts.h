#pragma once
// Layers of experts, from TOML: [model.experts].

#include <string>

#include "base/config.h"
#include "experiments/config.h"

namespace deft::experiments {

// Each may be null.
struct ExpertTables {
    const ConfigNode* of_preset = nullptr;
    const ConfigNode* own = nullptr;  // laid over it
};

// None where the table is absent, or enabled = false. name: of the table, for messages. Errors: config, with the place.
ExpertLayersConfig parse_experts(const ExpertTables& tables, const std::string& name, std::int64_t layers_of_model);

}  // namespace deft::experiments
