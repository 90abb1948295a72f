#include "base/score_key.h"

#include "base/json.h"
#include "base/sha256.h"

namespace deft {

std::string score_key(const std::string& task_sha256, std::int64_t shots, std::int64_t documents) {
    return sha256(canonical_json(
        Json{{"task", task_sha256}, {"shots", shots}, {"documents", documents}, {"scoring", kScoringVersion}}));
}

}  // namespace deft
