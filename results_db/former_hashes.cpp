#include "results_db/former_hashes.h"

#include <vector>

#include "base/json.h"
#include "base/sha256.h"

namespace deft::results_db {

namespace {

// What experiments/config.cpp adds to the hashed part of some configurations. Each is taken as that program found it
// fit: the one set of marks that gives the stored hash.
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

}  // namespace

std::optional<ConfigHashes> hashes_without_evaluation(Json config, const std::string& former_hash) {
    if (!config.is_object() || !config.contains("eval")) return std::nullopt;
    config.erase("local");
    for (Json& marked : with_marks(config)) {
        if (sha256(canonical_json(marked)) != former_hash) continue;
        marked.erase("eval");
        ConfigHashes hashes;
        hashes.config = sha256(canonical_json(marked));
        marked.erase("seed");
        hashes.variant = sha256(canonical_json(marked));
        return hashes;
    }
    return std::nullopt;
}

bool has_hashes(Json config, const ConfigHashes& hashes) {
    if (!config.is_object()) return false;
    for (const char* part : {"local", "eval"}) config.erase(part);
    const auto train = config.find("train");
    if (train != config.end() && train->is_object() && train->value("budget_tokens", Json()) == 0)
        config.erase("seed");  // nothing trains an imported model
    for (Json& marked : with_marks(config)) {
        if (sha256(canonical_json(marked)) != hashes.config) continue;
        marked.erase("seed");
        if (const auto start = marked.find("start"); start != marked.end() && start->is_object()) start->erase("trial");
        if (sha256(canonical_json(marked)) == hashes.variant) return true;
    }
    return false;
}

std::string current_config_hash(const std::string& config_json, const std::string& hash) {
    const auto hashes = hashes_without_evaluation(try_parse_json(config_json), hash);
    return hashes ? hashes->config : hash;
}

}  // namespace deft::results_db
