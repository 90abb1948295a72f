// The hashes of the repository's sweep files stay what they were, at every scale: finished trials are found by them,
// and the order of execution follows from them.

#include "base/json.h"
#include "base/sha256.h"
#include "sweeps/spec/expand.h"
#include "sweeps/spec/inherit.h"
#include "tests/golden.h"
#include "tests/sweeps/files.h"
#include "tests/with_variable.h"

using namespace deft;
using namespace deft::sweeps;

namespace {

// Includes those of the files that it extends.
std::vector<std::string> scales_of(const std::filesystem::path& file) {
    std::vector<std::string> names = {kDefaultScale};
    const ConfigNode root = with_parents(file, read_file(file)).root;
    if (const ConfigNode* scales = root.find("scale"))
        for (const auto& [name, overlay] : scales->children)
            if (name != kDefaultScale) names.push_back(name);
    return names;
}

Json hashes_of(const std::filesystem::path& file, const std::string& scale) {
    SpecOptions options;
    options.scale = scale;
    const Spec spec = load_spec(file, options);
    const std::vector<Trial> trials = expand(spec, Data::may_be_missing);
    if (std::any_of(trials.begin(), trials.end(), [](const Trial& trial) { return !trial.projection.has_steps; }))
        return "the number of its records decides its hashes";
    std::string configs, variants;
    for (const std::size_t i : execution_order(trials, spec.sha256)) {
        configs += trials[i].config_hash;
        variants += trials[i].variant_hash;
    }
    return {{"spec", spec.sha256},
            {"points", trials.size()},
            {"config_hashes", sha256(configs)},
            {"variant_hashes", sha256(variants)}};
}

}  // namespace

TEST_CASE("the repository's sweeps keep their hashes", "[slow][bare]") {
    const test::Folder nothing;  // as on a machine without any data
    const test::WithVariable mirror("DEFT_DATA_MIRROR", nothing.path.string());
    const test::WithVariable downloads("DEFT_DATA", nothing.path.string());
    const auto known = golden::read("sweep_hashes.json");
    REQUIRE(known);
    Json found = Json::object();
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(DEFT_SOURCE_DIR) / "sweeps")) {
        if (entry.path().extension() != ".toml") continue;
        const std::string name = entry.path().stem().string();
        for (const std::string& scale : scales_of(entry.path())) found[name][scale] = hashes_of(entry.path(), scale);
    }
    CHECK(found.dump(2) == known->dump(2));
}
