#pragma once
// Hashes of a training: of the configuration that decides its weights, with and without the seed.

#include <string>

#include "base/json_fwd.h"

namespace deft::results_db {

struct ConfigHashes {
    std::string config;   // with the seed
    std::string variant;  // without it
};

// As this program gives them; of a configuration that is a JSON object.
ConfigHashes hashes_of_config(const Json& config);

// Whether a configuration has these hashes, with and without its seed: as this program or one before it gave them.
bool has_hashes(const Json& config, const ConfigHashes& hashes);

}  // namespace deft::results_db
