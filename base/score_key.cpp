#include "base/score_key.h"

#include "base/json.h"
#include "base/sha256.h"

namespace deft {

namespace {

// Prefix of the keys of scores under capacity, which distinguishes them where only the key is stored.
constexpr const char* kCapacityPrefix = "capacity-";

}  // namespace

std::string score_key(const std::string& task_sha256, std::int64_t shots, std::int64_t documents,
                      std::int64_t capacity_samples) {
    Json asked = {{"task", task_sha256}, {"shots", shots}, {"documents", documents}, {"scoring", kScoringVersion}};
    if (capacity_samples == 0) return sha256(canonical_json(asked));
    asked["capacity_samples"] = capacity_samples;
    return kCapacityPrefix + sha256(canonical_json(asked));
}

bool is_under_capacity(const std::string& key) {
    return key.starts_with(kCapacityPrefix);
}

}  // namespace deft
