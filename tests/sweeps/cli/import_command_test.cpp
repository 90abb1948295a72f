// deft config import-deepspeed through the program.

#include "tests/sweeps/program.h"

using namespace deft;
using test::Ran;
using test::TinySweep;

namespace {

const std::string kJson = R"({"fp16": {"enabled": true}, "data_efficiency": {"seed": 1234,
  "data_sampling": {"curriculum_learning": {"enabled": true, "curriculum_metrics": {"seqlen": {
    "difficulty_type": "value", "clustering_type": "single_cluster", "min_difficulty": 8, "max_difficulty": 16,
    "schedule_type": "fixed_discrete", "schedule_config": {"difficulty": [8, 12, 16], "max_step": [10, 20]}}}}},
  "data_routing": {"random_ltd": {"enabled": true, "random_ltd_layer_id": [1], "random_ltd_layer_nmu": 1,
    "random_ltd_schedule": {"min_value": 8, "max_value": 16, "schedule_type": "fixed_linear",
      "schedule_config": {"require_steps": 30, "seq_per_step": 4}}}}}})";

}  // namespace

TEST_CASE("deft config import-deepspeed prints a recipe that a sweep takes, and names what it left out") {
    const TinySweep nothing("");
    const std::string json = nothing.folder.write("ds.json", kJson).string();
    const Ran printed = nothing.deft("config", {"import-deepspeed", json});
    CHECK(printed.exit_code == kExitOk);
    CHECK_THAT(printed.err, ContainsSubstring("fp16: outside this section: here it is train.dtype") &&
                                ContainsSubstring("did you mean random_ltd_layer_num?"));
    CHECK_THAT(printed.out, !ContainsSubstring("fp16"));

    const std::string file = (nothing.folder.path / "case.toml").string();
    const Ran written = nothing.deft("config", {"import-deepspeed", json, "--out", file});
    CHECK(written.exit_code == kExitOk);
    CHECK(written.out.empty());
    CHECK(read_file(file) == printed.out);

    const TinySweep sweep(printed.out);
    const Ran plan = sweep.deft("plan", {"--print-config"});
    CHECK(plan.exit_code == kExitOk);
    CHECK_THAT(plan.out,
               ContainsSubstring("seqtru") && ContainsSubstring("random_ltd") && ContainsSubstring("discrete"));
}

TEST_CASE("deft config import-deepspeed refuses what is not such a configuration") {
    const TinySweep nothing("");
    const std::string json = nothing.folder.write("ds.json", R"({"fp16": {}})").string();
    const std::string out = (nothing.folder.path / "case.toml").string();
    const Ran refused = nothing.deft("config", {"import-deepspeed", json, "--out", out});
    CHECK(refused.exit_code == kExitUsage);
    CHECK_THAT(refused.err, ContainsSubstring("ds.json: data_efficiency is not there"));
    CHECK_FALSE(std::filesystem::exists(out));
    CHECK(nothing.deft("config", {"import-deepspeed", json + ".none"}).exit_code == kExitUsage);
    CHECK(nothing.deft("config").exit_code == kExitUsage);
}
