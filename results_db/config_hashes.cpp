#include "results_db/config_hashes.h"

#include <algorithm>
#include <vector>

#include "base/json.h"
#include "base/sha256.h"

namespace deft::results_db {

namespace {

// Keys that experiments/config.cpp adds to the hashed part of some configurations. Each is taken as that program
// wrote it: the one set of marks that gives the stored hash.
constexpr const char* kPadding[] = {"padding", "as its row"};
constexpr const char* kDraws[] = {"draws", "an order a cluster"};

std::vector<Json> with_marks(const Json& config) {
    std::vector<Json> all;
    for (const bool padding : {false, true})
        for (const bool draws : {false, true}) {
            Json& marked = all.emplace_back(config);
            if (padding) marked[kPadding[0]] = kPadding[1];
            if (draws) marked[kDraws[0]] = kDraws[1];
        }
    return all;
}

// As experiments/config.cpp hashes it.
Json hashed_part(Json config) {
    for (const char* part : {"local", "eval"}) config.erase(part);
    const auto train = config.find("train");
    if (train != config.end() && train->is_object() && train->value("budget_tokens", Json()) == 0)
        config.erase("seed");  // nothing trains an imported model
    return config;
}

std::string variant_of(Json part) {
    part.erase("seed");
    if (const auto start = part.find("start"); start != part.end() && start->is_object()) start->erase("trial");
    return sha256(canonical_json(part));
}

}  // namespace

ConfigHashes hashes_of_config(const Json& config) {
    const Json part = hashed_part(config);
    return {sha256(canonical_json(part)), variant_of(part)};
}

bool has_hashes(const Json& config, const ConfigHashes& hashes) {
    if (!config.is_object()) return false;
    const std::vector<Json> all = with_marks(hashed_part(config));
    return std::any_of(all.begin(), all.end(), [&](const Json& marked) {
        return sha256(canonical_json(marked)) == hashes.config && variant_of(marked) == hashes.variant;
    });
}

}  // namespace deft::results_db
