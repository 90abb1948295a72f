#pragma once
// What the trials of a row consumed: tokens, FLOPs, time, money.

#include <optional>
#include <string>
#include <vector>

#include "reporting/field.h"

namespace deft::reporting {

struct Resource {
    const char* title;
    std::optional<double> (*value)(const results_db::TrialRow&);
    std::string (*print)(double);
    bool with_ratio;  // also as a multiple of the baseline's
    const char* raw_unit = "";
};

const std::vector<Resource>& resources();
const Resource& train_time();

// The mean over finished seeds; nothing where one of them lacks it, for a mean over fewer would not be comparable.
std::optional<double> mean_of(const Variant& variant, const Resource& resource);

// Its column. `variants` must outlive it.
Field resource_field(const Resource& resource, const std::vector<Variant>& variants, const std::string& base_case);

}  // namespace deft::reporting
