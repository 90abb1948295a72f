// deft profile, deft bench and deft check bench of presets, through the program.

#include "base/json.h"
#include "experiments/model_presets.h"
#include "tests/sweeps/program.h"

using namespace deft;
using test::Ran;
using test::TinySweep;

TEST_CASE("deft profile --preset breaks down a step of that model") {
    const TinySweep sweep("");
    const std::filesystem::path json = sweep.folder.path / "profile.json";
    const Ran ran = sweep.deft(
        "profile", {"--preset", "llama_mini", "--batch", "1", "--steps", "1", "--threads", "2", "--json-file", json});
    INFO(ran.err);
    REQUIRE(ran.exit_code == kExitOk);
    CHECK_THAT(ran.out,
               ContainsSubstring("llama_mini (layers 6, width 256, heads 8, vocabulary 8192, length 256, batch 1)"));
    CHECK(Json::parse(read_file(json)).at("what").get<std::string>().starts_with("llama_mini"));
    const Ran bert = sweep.deft("profile", {"--preset", "bert_mini", "--batch", "1", "--steps", "1", "--threads", "2"});
    INFO(bert.err);
    CHECK(bert.exit_code == kExitOk);
    CHECK_THAT(bert.out, ContainsSubstring("vocabulary 30522"));
}

TEST_CASE("deft profile refuses what goes with no preset, and one that the memory does not hold") {
    const TinySweep sweep("[[case]]\nname = \"plain\"\n");
    const auto wrong = [&](std::vector<std::string> more, int exit_code) {
        const Ran ran = sweep.deft("profile", std::move(more));
        CHECK(ran.exit_code == exit_code);
        CHECK(ran.out.empty());
        return ran.err;
    };
    CHECK_THAT(wrong({"--preset", "gpt_mini", "--size", "1"}, kExitUsage),
               ContainsSubstring("--preset") && ContainsSubstring("--size"));
    CHECK_THAT(wrong({sweep.file.string(), "--preset", "gpt_mini"}, kExitUsage), ContainsSubstring("--preset"));
    CHECK_THAT(wrong({"--preset", "gpt_mini", "--set", "model.width=8"}, kExitUsage), ContainsSubstring("--set"));
    CHECK_THAT(wrong({"--preset", "gpt_mimi"}, kExitUsage), ContainsSubstring("did you mean \"gpt_mini\"?"));
    CHECK_THAT(wrong({"--preset", "gpt3_6.7b", "--batch", "4096"}, kExitFailed),
               ContainsSubstring("gpt3_6.7b") && ContainsSubstring("this machine has") &&
                   ContainsSubstring("nothing was allocated"));
}

TEST_CASE("deft bench step refuses a preset that the memory does not hold with all its techniques") {
    const TinySweep sweep("");
    const Ran ran = sweep.deft(
        "bench", {"step", "--preset", "gpt3_6.7b", "--batch", "65536", "--root", sweep.folder.path / "runs"});
    CHECK(ran.exit_code == kExitFailed);
    CHECK_THAT(ran.err, ContainsSubstring("gpt3_6.7b,8192,2048,65536") && ContainsSubstring("this machine has"));
    CHECK(!std::filesystem::exists(sweep.folder.path / "runs"));
}

TEST_CASE("deft bench list has a step of each preset where it is asked for", "[slow]") {
    const TinySweep sweep("");
    const Ran steps = sweep.deft("bench", {"list", "-k", "step/*"});
    REQUIRE(steps.exit_code == kExitOk);
    for (const std::string& preset : experiments::model_presets())
        CHECK_THAT(steps.out, ContainsSubstring("step/" + preset));
    CHECK_THAT(steps.out, !ContainsSubstring("linear_forward"));
    const Ran all = sweep.deft("bench", {"list", "--backend", "cpu"});
    CHECK_THAT(all.out, !ContainsSubstring("step/gpt") && ContainsSubstring("linear_forward"));
}
