// The settings that reports read from configurations with and without techniques.

#include <fmt/format.h>

#include "base/json.h"
#include "engine/data_efficiency/token_dropping/token_dropping.h"
#include "reporting/analysis/results/settings.h"
#include "tests/catch.h"
#include "tests/experiments/trial_config.h"

using namespace deft;

namespace {

reporting::Settings settings_of(const std::string& toml) {
    return reporting::parse_settings(
        to_json(test::trial_of("[model]\nlayers = 6\n[train]\nbudget_tokens = 102_400\n" + toml)).dump());
}

}  // namespace

TEST_CASE("reports know a plain trial, and each registered technique, without a list of techniques") {
    CHECK(settings_of("").is_plain);
    const reporting::Settings whole = settings_of(
        "[model.experts]\ncount = 4\n[start]\nfrom = \"a_model\"\n[eval]\nevery = \"3 times\"\nselect = \"best\"\n"
        "[checkpoint]\nkeep = 3\n");
    CHECK(whole.is_plain);
    CHECK(whole.has_start);
    CHECK(whole.selects_best);
    CHECK(whole.dropping_layers.empty());
    for (const char* table : {"[curriculum.voc]\nsteps = 40\n", "[batch_ramp]\nsteps = 40\n", "[variable_batch]\n"}) {
        CAPTURE(table);
        CHECK(!settings_of(table).is_plain);
        CHECK(settings_of(table).dropping_layers.empty());
    }
    for (const engine::TokenDropper& dropper : engine::token_droppers()) {
        CAPTURE(dropper.name);
        const reporting::Settings settings =
            settings_of(fmt::format("[{}]\nlayers = [2, 3]\nmin = 16\npacing = \"constant\"\n", dropper.name));
        CHECK(!settings.is_plain);
        CHECK(settings.dropping_layers == std::vector<std::int64_t>{2, 3});
        CHECK(settings.keeps_a_constant_number);
    }
}
