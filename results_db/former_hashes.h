#pragma once
// Up to version 5 a trial's hash was also of what it is asked after its training ([eval]). Trials that were trained
// then are found by what decided their weights alone.

#include <optional>
#include <string>

#include "base/json_fwd.h"

namespace deft::results_db {

struct ConfigHashes {
    std::string config;   // with the seed
    std::string variant;  // without it
};

// For a configuration stored with that hash. Nothing where the hash is not of that configuration, or is of a
// trial that this program would train in another way.
std::optional<ConfigHashes> hashes_without_evaluation(Json config, const std::string& former_hash);

// As this program gives them; of a configuration that is a JSON object.
ConfigHashes hashes_of_config(const Json& config);

// Whether a configuration has these hashes, with and without its seed: as this program or one before it gave them.
bool has_hashes(const Json& config, const ConfigHashes& hashes);

// Result of hashes_without_evaluation() for JSON text of any version; the hash itself where it is one already.
std::string current_config_hash(const std::string& config_json, const std::string& hash);

}  // namespace deft::results_db
