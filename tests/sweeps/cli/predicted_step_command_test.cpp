// deft profile --predict, through the program: a step on a card that need not be here.

#include "base/json.h"
#include "tests/sweeps/program.h"

using namespace deft;
using test::Ran;
using test::TinySweep;

TEST_CASE("deft profile --predict prints a step that no card ran, labelled and with its sources") {
    const TinySweep sweep("");
    const std::filesystem::path json = sweep.folder.path / "predicted.json";
    const Ran ran = sweep.deft("profile", {"--size", "4", "--card", "H200", "--predict", "--json-file", json});
    INFO(ran.err);
    REQUIRE(ran.exit_code == kExitOk);
    CHECK_THAT(ran.out, ContainsSubstring("Predicted, not measured: training step 3 of layers 12, width 768") &&
                            ContainsSubstring("bf16 on H200:") && ContainsSubstring("2026-11-26-NVIDIA-H200") &&
                            ContainsSubstring("goal of the tensor-core issue"));
    const Json stored = Json::parse(read_file(json));
    CHECK(stored.at("schema") == "deft-predicted-step/1");
    CHECK_FALSE(stored.contains("seconds"));  // the name of measured ones
    CHECK(stored.at("prediction").at("label").get<std::string>() == "predicted by a model of the card, not measured");
    double sum = 0;
    for (const Json& op : stored.at("ops")) {
        sum += op.at("predicted_seconds").get<double>();
        CHECK_FALSE(op.contains("seconds"));
    }
    CHECK(sum == Approx(30e-3).epsilon(0.02));
    CHECK(sum == Approx(stored.at("predicted_seconds").get<double>()));
    CHECK(stored.at("predicted_tokens_per_second").get<double>() == Approx(16 * 1024 / sum));
}

TEST_CASE("deft profile --predict takes larger models than this machine holds, and a sweep's techniques") {
    const TinySweep sweep("[[case]]\nname = \"kept\"\ntechniques.random_ltd.min = 8\n");
    for (const char* preset : {"gpt2_350m", "gpt3_1.3b"}) {
        const Ran ran = sweep.deft(
            "profile", {"--preset", preset, "--vocab", "50257", "--batch", "16", "--card", "H100", "--predict"});
        INFO(ran.err);
        CHECK(ran.exit_code == kExitOk);
        CHECK_THAT(ran.out, ContainsSubstring("vocabulary 50257") && ContainsSubstring("% of the data sheet's"));
    }
    const Ran experts =
        sweep.deft("profile", {"--preset", "125m_moe64", "--batch", "1", "--card", "H100", "--predict"});
    INFO(experts.err);
    CHECK_THAT(experts.out, ContainsSubstring("grouped_linear_backward_weight"));
}

TEST_CASE("deft profile --card prints predicted times beside measured ones, and stores both") {
    const TinySweep sweep("");
    const std::filesystem::path json = sweep.folder.path / "profile.json";
    const Ran ran = sweep.deft("profile", {"--preset", "llama_mini", "--batch", "1", "--steps", "1", "--threads", "2",
                                           "--card", "H100", "--json-file", json});
    INFO(ran.err);
    REQUIRE(ran.exit_code == kExitOk);
    CHECK_THAT(ran.out, ContainsSubstring("predicted") && ContainsSubstring("No predicted time is measured") &&
                            ContainsSubstring("Predicted step:"));
    const Json stored = Json::parse(read_file(json));
    CHECK(stored.at("prediction").at("card") == "H100");
    double predicted = 0, measured = stored.at("seconds_outside_ops").get<double>();
    for (const Json& op : stored.at("ops")) {
        predicted += op.at("predicted_seconds").get<double>();
        measured += op.at("seconds").get<double>();
    }
    CHECK(predicted == Approx(stored.at("predicted_seconds").get<double>()));
    CHECK(measured == Approx(stored.at("seconds").get<double>()));
    const Ran plain = sweep.deft("profile", {"--size", "1", "--steps", "1", "--json-file", json});
    REQUIRE(plain.exit_code == kExitOk);
    CHECK(Json::parse(read_file(json)).at("predicted_seconds").is_null());
    CHECK_THAT(plain.out, !ContainsSubstring("redicted"));
}

TEST_CASE("deft profile --predict refuses an unknown card, and what only a measurement takes") {
    const TinySweep sweep("[[case]]\nname = \"plain\"\n");
    const auto wrong = [&](std::vector<std::string> more) {
        const Ran ran = sweep.deft("profile", std::move(more));
        CHECK(ran.exit_code == kExitUsage);
        CHECK(ran.out.empty());
        return ran.err;
    };
    CHECK_THAT(wrong({"--size", "1", "--card", "A100", "--predict"}),
               ContainsSubstring("A100") && ContainsSubstring("H100, H200"));
    CHECK_THAT(wrong({"--size", "1", "--predict"}), ContainsSubstring("--card"));
    CHECK_THAT(wrong({"--size", "1", "--card", "H100", "--predict", "--backend", "cuda"}),
               ContainsSubstring("--backend"));
    CHECK_THAT(wrong({"--size", "1", "--card", "H100", "--predict", "--trace", "t.json"}),
               ContainsSubstring("--trace"));
    CHECK_THAT(wrong({"--size", "1", "--vocab", "100", "--card", "H100", "--predict"}), ContainsSubstring("--preset"));
}
