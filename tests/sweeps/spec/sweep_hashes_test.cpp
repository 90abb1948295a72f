// The hashes of the repository's sweep files stay what they were, at every scale: finished trials are found by them,
// and the order of execution follows from them.

#include "base/json.h"
#include "base/sha256.h"
#include "sweeps/spec/expand.h"
#include "tests/golden.h"
#include "tests/sweeps/files.h"
#include "tests/with_variable.h"

using namespace deft;
using namespace deft::sweeps;

TEST_CASE("the repository's sweeps keep their hashes") {
    const test::Folder nothing;  // as on a machine without any data
    const test::WithVariable mirror("DEFT_DATA_MIRROR", nothing.path.string());
    const test::WithVariable downloads("DEFT_DATA", nothing.path.string());
    const auto known = golden::read("sweep_hashes.json");
    REQUIRE(known);
    Json found = Json::object();
    for (const auto& [name, scales] : known->items())
        for (const auto& [scale, entry] : scales.items()) {
            SpecOptions options;
            options.scale = scale;
            const Spec spec = load_spec(std::filesystem::path(DEFT_SOURCE_DIR) / "sweeps" / (name + ".toml"), options);
            const std::vector<Point> points = expand(spec, Data::may_be_missing);
            std::string configs, variants;
            for (const std::size_t i : execution_order(points, spec.sha256)) {
                configs += points[i].config_hash;
                variants += points[i].variant_hash;
            }
            found[name][scale] = {{"spec", spec.sha256},
                                  {"points", points.size()},
                                  {"config_hashes", sha256(configs)},
                                  {"variant_hashes", sha256(variants)}};
        }
    CHECK(found.dump(2) == known->dump(2));
}
