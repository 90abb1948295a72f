#include "results_db/config_hashes.h"

#include <utility>

#include "base/json.h"
#include "base/sha256.h"

namespace deft::results_db {

namespace {

// Keys that experiments/config.cpp adds to the hashed part of some configurations. Each is taken as that program
// wrote it: the one set of marks that gives the stored hash.
constexpr const char* kPadding[] = {"padding", "as its row"};
constexpr const char* kDraws[] = {"draws", "an order a cluster"};

struct Marks {
    bool padding = false, draws = false;
};

constexpr Marks kMarks[] = {{false, true}, {true, false}, {true, true}};

Json with_marks(Json config, const Marks& marks) {
    if (marks.padding) config[kPadding[0]] = kPadding[1];
    if (marks.draws) config[kDraws[0]] = kDraws[1];
    return config;
}

// Nothing trains an imported model, and its hash has no seed.
bool has_seed(const Json& config) {
    const auto train = config.find("train");
    return train == config.end() || !train->is_object() || train->value("budget_tokens", Json()) != 0;
}

std::string part_text(const std::string& key, const Json& value) {
    return canonical_json(key) + ":" + canonical_json(value);
}

void add_part(std::string& object, const std::string& part) {
    object += object.empty() ? "{" : ",";
    object += part;
}

std::string hash_of_object(const std::string& parts) {
    return sha256(parts.empty() ? "{}" : parts + "}");
}

}  // namespace

// As experiments/config.cpp hashes it. The canonical text is put together from its parts: reports check each trial,
// and copies of whole configurations would take most of that time.
ConfigHashes hashes_of_config(const Json& config) {
    const bool hashes_seed = has_seed(config);
    std::string all, variant;
    for (const auto& [key, value] : config.items()) {
        if (key == "local" || key == "eval" || (key == "seed" && !hashes_seed)) continue;
        const std::string part = part_text(key, value);
        add_part(all, part);
        if (key == "seed") continue;
        if (key == "start" && value.is_object()) {
            Json start = value;
            start.erase("trial");
            add_part(variant, part_text(key, start));
        } else {
            add_part(variant, part);
        }
    }
    return {hash_of_object(all), hash_of_object(variant)};
}

bool has_hashes(const Json& config, const ConfigHashes& hashes) {
    if (!config.is_object()) return false;
    ConfigHashes own = hashes_of_config(config);
    for (const Marks& marks : kMarks)
        if (own.config != hashes.config) own = hashes_of_config(with_marks(config, marks));
    return own.config == hashes.config && own.variant == hashes.variant;
}

}  // namespace deft::results_db
