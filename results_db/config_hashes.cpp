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

Json with_marks(Json part, const Marks& marks) {
    if (marks.padding) part[kPadding[0]] = kPadding[1];
    if (marks.draws) part[kDraws[0]] = kDraws[1];
    return part;
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
    Json part = hashed_part(config);
    std::string config_hash = sha256(canonical_json(part));
    return {std::move(config_hash), variant_of(std::move(part))};
}

bool has_hashes(Json config, const ConfigHashes& hashes) {
    if (!config.is_object()) return false;
    Json part = hashed_part(std::move(config));
    if (sha256(canonical_json(part)) == hashes.config) return variant_of(std::move(part)) == hashes.variant;
    for (const Marks& marks : kMarks) {
        Json marked = with_marks(part, marks);
        if (sha256(canonical_json(marked)) == hashes.config) return variant_of(std::move(marked)) == hashes.variant;
    }
    return false;
}

}  // namespace deft::results_db
