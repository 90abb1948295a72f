// Rows of a sweep with stages: what they count by, and what they are compared with.

#include "reporting/stages.h"
#include "reporting/variants.h"
#include "tests/catch.h"

using namespace deft;
using namespace deft::reporting;

namespace {

results_db::TrialRow trial_in(const std::string& stage, const std::string& seeds, std::int64_t ordinal) {
    results_db::TrialRow trial;
    trial.stage = stage;
    trial.seeds = seeds;
    trial.case_key = "plain";
    trial.axes_json = "{}";
    trial.ordinal = ordinal;
    trial.state = "ok";
    return trial;
}

}  // namespace

TEST_CASE("Seeds of a later stage are averaged by the first seed of their chain") {
    const results_db::TrialRow a = trial_in("b", "1.7", 0), b = trial_in("b", "1.8", 1), c = trial_in("b", "2.7", 2);
    CHECK(unit_seed(b) == "1");
    CHECK(unit_means({{&a, 1.0}, {&b, 2.0}, {&c, 5.0}}) == std::vector<double>{1.5, 5.0});
    results_db::TrialRow alone = trial_in("", "", 0);
    alone.seed = 4;
    CHECK(unit_seed(alone) == "4");
}

TEST_CASE("A row is compared with the baseline of its own stage") {
    results_db::SweepResults sweep;
    sweep.trials = {trial_in("pretrain", "1", 0), trial_in("finetune", "1", 1)};
    const std::vector<Variant> variants = variants_of(sweep);
    REQUIRE(variants.size() == 2);
    for (const Variant& variant : variants) CHECK(&reference_of(variants, "plain", variant) == &variant);
    const std::vector<StageResults> stages = stages_of(sweep);
    REQUIRE(stages.size() == 2);
    CHECK(stages[0].name == "pretrain");
    CHECK(stages[1].sweep.trials.size() == 1);
}
