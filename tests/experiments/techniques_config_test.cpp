// [curriculum.METRIC], [batch_ramp] and [variable_batch]: what they mean, and what is refused.

#include <fmt/format.h>

#include <cmath>
#include <fstream>

#include "base/error.h"
#include "base/json.h"
#include "base/sha256.h"
#include "experiments/config.h"
#include "experiments/curriculum_entries.h"
#include "experiments/engine_config.h"
#include "tests/catch.h"
#include "tests/experiments/trial_config.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::experiments;
using deft::test::TemporaryFolder;

namespace {

// 64 tokens, 8 samples a step, 200 steps.
const std::string kFourLayers = "[model]\nlayers = 4\nseqlen = 64\n[train]\nbatch_size = 8\nbudget_tokens = 102_400\n";

std::string wrong_table(const std::string& toml) {
    return test::wrong_trial(kFourLayers + toml);
}

engine::Techniques techniques_of(const std::string& toml) {
    return trainer_config(test::trial_of(kFourLayers + toml)).techniques;
}

}  // namespace

TEST_CASE("every pacing is read") {
    const engine::Pacing step =
        *techniques_of("[curriculum.seqtru]\nsteps = 40\npacing = \"step\"\nstages = 7\n").seqtru;
    CHECK(engine::paced_value(step, 0) == 8);
    CHECK(engine::paced_value(step, 6) == 16);  // one of seven rises of 8 tokens, at 40 / 7 = 5.7 steps
    const engine::Pacing exponential =
        *techniques_of("[curriculum.seqtru]\nsteps = 30\npacing = \"exponential\"\ndifficulty_step = 1\n").seqtru;
    CHECK(engine::paced_value(exponential, 10) == 16);  // 8 x 8^(1/3)
    const engine::Pacing points =
        *techniques_of(
             "[curriculum.seqtru]\nduration = 0.5\npacing = \"points\"\npoints = [[0, 8], [0.5, 16], [1, 64]]\n")
             .seqtru;
    CHECK(points.duration == 100);
    CHECK(engine::paced_value(points, 50) == 16);
    CHECK(engine::paced_value(points, 75) == 40);
    const engine::Pacing held =
        *techniques_of(
             "[curriculum.seqres]\nsteps = 10\npacing = \"discrete\"\npoints = [[0, 8], [0.5, 16], [1, 64]]\n")
             .seqres;
    CHECK(engine::paced_value(held, 4) == 8);
    CHECK(engine::paced_value(held, 9) == 16);
    CHECK(techniques_of("[random_ltd]\nmin = 20\npacing = \"constant\"\n").dropping->kept.max == 20);
}

TEST_CASE("pacings that make no sense are refused with their place") {
    const std::string seqtru = "[curriculum.seqtru]\nsteps = 40\n";
    CHECK_THAT(wrong_table(seqtru + "pacing = \"cubic\"\n"),
               ContainsSubstring("t.toml:9:") && ContainsSubstring("none of"));
    CHECK_THAT(wrong_table(seqtru + "pacing = \"points\"\n"), ContainsSubstring("points is needed"));
    CHECK_THAT(wrong_table(seqtru + "points = [[0, 8], [1, 64]]\n"), ContainsSubstring("has no effect with pacing"));
    const std::string drawn = seqtru + "pacing = \"points\"\n";
    CHECK_THAT(wrong_table(drawn + "points = [[0.1, 8], [1, 64]]\n"), ContainsSubstring("begin at 0 and end at 1"));
    CHECK_THAT(wrong_table(drawn + "points = [[0, 8], [0.5, 6], [1, 64]]\n"), ContainsSubstring("falls from 8 to 6"));
    CHECK_THAT(wrong_table(drawn + "points = [[0, 8], 64]\n"), ContainsSubstring("pairs"));
    CHECK_THAT(wrong_table(drawn + "points = [[0, 8], [1, 64]]\nmin = 8\n"),
               ContainsSubstring("is what the points say"));
    CHECK_THAT(wrong_table(drawn + "points = [[0, 8], [1, 65]]\n"), ContainsSubstring("above model.seqlen = 64"));
    CHECK_THAT(wrong_table("[random_ltd]\npacing = \"constant\"\nsteps = 3\n"), ContainsSubstring("has no effect"));
}

TEST_CASE("a length that never becomes the full one is refused") {
    CHECK_THAT(wrong_table("[curriculum.seqtru]\nsteps = 40\nmax = 56\n"),
               ContainsSubstring("t.toml:9:") && ContainsSubstring("never see its full length of 64"));
    CHECK_THAT(wrong_table("[curriculum.seqres]\nmin = 32\npacing = \"constant\"\n"), ContainsSubstring("full length"));
    CHECK_THAT(wrong_table("[curriculum.seqtru]\nsteps = 4000\n"),
               ContainsSubstring("until step 4000") && ContainsSubstring("raise train.budget_tokens"));
    CHECK_THAT(wrong_table("[random_ltd]\nsteps = 40\nmax = 56\n"), ContainsSubstring("never see all 64 tokens"));
}

TEST_CASE("metrics that packed samples do not have are refused, saying why") {
    CHECK_THAT(wrong_table("[curriculum.seqreo]\nsteps = 4\n"),
               ContainsSubstring("packed samples all have the same length"));
    CHECK_THAT(wrong_table("[curriculum.seqreo_voc]\nsteps = 4\n"),
               ContainsSubstring("packed samples all have the same length"));
    CHECK_THAT(wrong_table("[curriculum.seqlen]\nsteps = 4\n"),
               ContainsSubstring("packed samples all have the same length"));
    CHECK_THAT(wrong_table("[curriculum.seqtru_voc]\nsteps = 4\n"), ContainsSubstring("[curriculum.voc]"));
    CHECK_THAT(wrong_table("[curriculum.vok]\nsteps = 4\n"), ContainsSubstring("did you mean voc?"));
    CHECK_THAT(wrong_table("[curriculum.seqtru]\nsteps = 4\n[curriculum.seqres]\nsteps = 4\n"),
               ContainsSubstring("both set the length"));
    CHECK_THAT(wrong_table("[curriculum.seqtru]\nsteps = 4\ncolumn = \"a.npy\"\n"),
               ContainsSubstring("names a built-in metric"));
    CHECK_THAT(wrong_table("[curriculum.voc]\nsteps = 4\ndifficulty = \"value\"\n"),
               ContainsSubstring("max is needed"));
}

TEST_CASE("an entry of the registry says where its curriculum applies and what it excludes") {
    for (const CurriculumEntry& entry : curriculum_entries()) {
        CAPTURE(entry.use.name);
        CHECK(find_curriculum_entry(entry.use.name) == &entry);
        CHECK(entry.sets_length() != engine::is_built_in_metric(entry.measure));
        CHECK(entry.sets_length() == entry.use.orders_by.empty());
        CHECK(!entry.use.sample_kinds.empty());
        const std::string table = fmt::format("[curriculum.{}]\nsteps = 40\n", entry.use.name);
        const std::string packed = wrong_table(table);
        CHECK((packed == "accepted") == entry.applies_to(SampleKind::packed));
        for (const engine::Exclusion& exclusion : entry.use.excludes) {
            CAPTURE(exclusion.other);
            const CurriculumEntry* other = find_curriculum_entry(exclusion.other);
            REQUIRE(other != nullptr);
            for (const engine::Exclusion& back : other->use.excludes) CHECK(back.other != std::string(entry.use.name));
        }
    }
    CHECK(
        curriculum_meanings() ==
        "seqtru: truncates samples to a growing length. seqres: reshapes samples to rows of a growing length (packed "
        "samples only). voc, voc_per_token: admit rare words later. ttr: admits samples of many distinct words later. "
        "seqreo: admits long samples later. seqreo_voc: admits long samples later, and at equal length rare words "
        "(both for BERT samples only). ");
    CHECK(composition_of("seqres_voc_per_token")->order == find_curriculum_entry("voc_per_token"));
    CHECK(!composition_of("seqreo_voc"));
    CHECK(!composition_of("seqtru_seqres"));
    CHECK_THAT(wrong_table("[curriculum.seqtru]\nsteps = 40\n[curriculum.seqtr_voc]\nsteps = 4\n"),
               ContainsSubstring("t.toml:9:") && ContainsSubstring("neither a built-in metric"));
}

TEST_CASE("a metric that is off is as if its table were absent") {
    const TrialConfig both = test::trial_of(
        kFourLayers +
        "[curriculum.seqtru]\nsteps = 4\n[curriculum.seqres]\nenabled = false\nsteps = 9\n[curriculum.voc]\n"
        "enabled = true\nsteps = 4\n");
    const TrialConfig alone =
        test::trial_of(kFourLayers + "[curriculum.seqtru]\nsteps = 4\n[curriculum.voc]\nsteps = 4\n");
    REQUIRE(both.curriculum);
    CHECK(both.curriculum->metrics.size() == 2);
    CHECK(both.curriculum->find("seqres") == nullptr);
    CHECK(to_json(both) == to_json(alone));
    CHECK_THAT(wrong_table("[curriculum.seqtru]\nenabled = false\nsteps = 4\n"), ContainsSubstring("has no metric"));
}

TEST_CASE("a batch ramp and a variable batch are read, and exclude each other") {
    const engine::Techniques ramp = techniques_of("[batch_ramp]\nmin = 2\nstep = 2\nsteps = 6\n");
    CHECK(engine::plan_step({64, 4}, ramp, 0, 8).samples == 2);
    CHECK(engine::plan_step({64, 4}, ramp, 4, 8).samples == 6);
    CHECK(engine::plan_step({64, 4}, ramp, 6, 8).samples == 8);
    const engine::Techniques variable = techniques_of(
        "[variable_batch]\nlearning_rate_scaling = \"sqrt\"\nmax_batch_size = 20\n"
        "[curriculum.seqtru]\nmin = 32\nmax = 64\nsteps = 40\n");
    CHECK(engine::plan_step({64, 4}, variable, 0, 8).samples == 16);
    CHECK(engine::plan_step({64, 4}, variable, 0, 8).learning_rate_scale == Approx(std::sqrt(2.0)));
    CHECK_THAT(wrong_table("[batch_ramp]\nsteps = 4\n[variable_batch]\n"),
               ContainsSubstring("both set the batch size"));
    CHECK_THAT(wrong_table("[batch_ramp]\nsteps = 4\nmax = 6\n"), ContainsSubstring("ends at train.batch_size = 8"));
    CHECK_THAT(wrong_table("[variable_batch]\nmax_tokens = 63\n"), ContainsSubstring("at least 64"));
    CHECK_THAT(wrong_table("[variable_batch]\n[curriculum.seqres]\nsteps = 4\n"),
               ContainsSubstring("tokens of a step constant"));
}

TEST_CASE("techniques survive JSON, hash and all; a column is known by its content") {
    const TemporaryFolder folder;
    const auto column = folder / "mine.csv";
    std::ofstream(column) << "3\n1\n2\n";
    const std::string toml =
        "[curriculum.seqres]\nsteps = 40\npacing = \"points\"\npoints = [[0, 8], [0.25, 16], [1, 64]]\n"
        "[curriculum.mine]\ncolumn = \"mine.csv\"\nduration = 0.5\npacing = \"step\"\nstages = 3\n"
        "[curriculum.voc_per_token]\nduration = 0.25\npacing = \"root\"\n"
        "[batch_ramp]\nmin = 2\nsteps = 9\n[token_bypass]\nmin = 32\npacing = \"constant\"\n";
    TrialConfig config = test::trial_of(kFourLayers + toml, folder.path());
    config.data.sha256 = "d";
    config.data.vocab = 257;
    for (CurriculumMetric& metric : config.curriculum->metrics)
        if (!metric.column.empty()) metric.column_sha256 = sha256_file(column);
    const TrialConfig again = from_json(Json::parse(to_json(config).dump()));
    CHECK(to_json(again) == to_json(config));
    CHECK(config_hash(again) == config_hash(config));
    CHECK(again.curriculum->find("mine")->column == "mine.csv");
    CHECK(to_json(config).at("curriculum").at("mine").contains("column") == false);
    TrialConfig moved = config, changed = config;
    for (TrialConfig* other : {&moved, &changed})
        for (CurriculumMetric& metric : other->curriculum->metrics)
            if (!metric.column.empty()) (other == &moved ? metric.column : metric.column_sha256) = "other";
    CHECK(config_hash(moved) == config_hash(config));
    CHECK(config_hash(changed) != config_hash(config));
}
