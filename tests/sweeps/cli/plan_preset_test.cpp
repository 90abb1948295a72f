// deft plan --preset through the program.

#include "base/json.h"
#include "tests/sweeps/program.h"

using namespace deft;
using test::Ran;
using test::TinySweep;

namespace {

Ran plan_alone(const TinySweep& sweep, std::vector<std::string> more) {
    more.insert(more.begin(), {DEFT_PROGRAM, "plan"});
    test::Process process(more, sweep.out(), sweep.err());
    const int code = process.wait();
    return {code, read_file(sweep.out()), read_file(sweep.err())};
}

}  // namespace

TEST_CASE("deft plan --preset prints sizes, memory, hours and cost of a model by itself") {
    const TinySweep sweep("");
    const Ran ran = plan_alone(sweep, {"--preset", "bert_large"});
    INFO(ran.out << ran.err);
    REQUIRE(ran.exit_code == kExitOk);
    CHECK_THAT(ran.out, ContainsSubstring("336226108") && ContainsSubstring("1.05T") && ContainsSubstring("1049B"));
    CHECK_THAT(ran.out, ContainsSubstring("V100") && ContainsSubstring("H200") &&
                            ContainsSubstring("No hours of cpu core") && ContainsSubstring("$5.408"));
    const Ran unpriced = plan_alone(sweep, {"--preset", "bert_large", "--hardware", "V100"});
    CHECK_THAT(unpriced.out, ContainsSubstring("No cost: no price is listed") && !ContainsSubstring("Cost of "));
    CHECK_THAT(ran.out, ContainsSubstring("h.*.attn.c_attn.weight") && ContainsSubstring("nothing was allocated") &&
                            ContainsSubstring("assumed for every model and device") && !ContainsSubstring("h.0."));
    CHECK_THAT(plan_alone(sweep, {"--preset", "bert_large", "--memory"}).out, ContainsSubstring("h.23.qkv"));

    const Ran priced = plan_alone(sweep, {"--preset", "llama_mini", "--hardware", "V100", "--tokens", "1.7e12",
                                          "--devices", "4", "--utilisation", "0.5", "--usd-per-hour", "3"});
    REQUIRE(priced.exit_code == kExitOk);
    CHECK_THAT(priced.out, ContainsSubstring("$") && ContainsSubstring("as asked for") &&
                               !ContainsSubstring("$5.408") && ContainsSubstring("as --utilisation says"));
    const Ran unknown = plan_alone(sweep, {"--preset", "gpt2_small"});
    CHECK(unknown.exit_code == kExitOk);
    CHECK_THAT(unknown.out, ContainsSubstring("no paper's budget is known") && ContainsSubstring("--tokens 300e9"));
}

TEST_CASE("deft plan --preset --json has the same numbers") {
    const TinySweep sweep("");
    const auto json = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"--preset", "gpt3_350m", "--json"});
        const Ran ran = plan_alone(sweep, more);
        INFO(ran.err);
        REQUIRE(ran.exit_code == kExitOk);
        return Json::parse(ran.out);
    };
    const Json all = json({});
    CHECK(all.at("schema") == "deft-preset-plan/1");
    CHECK(all.at("parameters") == 355'871'744);
    CHECK(all.at("tokens") == 300'000'000'000);
    CHECK(all.at("flops").get<double>() == Approx(all.at("flops_per_token").get<double>() * 3e11));
    CHECK(all.at("hardware").size() == 6);
    CHECK(all.at("memory").at("dtype") == "bf16");
    CHECK(all.at("memory").at("micro_batch_size") == 1);

    const Json one = json({"--hardware", "A100-80GB", "--devices", "16", "--utilisation", "0.5", "--usd-per-hour",
                           "1.5", "--micro-batch", "4", "--dtype", "f32"});
    const Json& row = one.at("hardware").at(0);
    const double hours = one.at("flops").get<double>() / (16 * 19.5e12 * 0.5) / 3600;
    CHECK(one.at("hardware").size() == 1);
    CHECK(row.at("hours").get<double>() == Approx(hours));
    CHECK(row.at("usd").get<double>() == Approx(16 * hours * 1.5));
    CHECK(one.at("memory").at("device") == "cuda");
    CHECK(one.at("memory").at("bytes").get<std::int64_t>() > all.at("memory").at("bytes").get<std::int64_t>());

    const Json cores = json({"--hardware", "cpu core"});
    CHECK(cores.at("memory").at("device") == "cpu");
    CHECK(cores.at("memory").at("dtype") == "f32");
    CHECK(cores.at("hardware").at(0).at("hours").is_null());
}

TEST_CASE("deft plan --preset allocates nothing of what it plans") {
    const TinySweep sweep("");
    const Ran ran = plan_alone(sweep, {"--preset", "gpt3_6.7b", "--micro-batch", "65536", "--json"});
    REQUIRE(ran.exit_code == kExitOk);
    // More than the addresses that a process has.
    CHECK(Json::parse(ran.out).at("memory").at("bytes").get<std::int64_t>() > std::int64_t{1} << 48);
    CHECK(Json::parse(ran.out).at("hardware").at(0).at("predicted").at("lacks") == "its buffers exceed 512 GiB");
}

TEST_CASE("deft plan refuses presets, hardware and numbers that make no sense") {
    const TinySweep sweep("[[case]]\nname = \"plain\"\n");
    const auto wrong = [&](std::vector<std::string> more) {
        const Ran ran = plan_alone(sweep, std::move(more));
        CHECK(ran.exit_code == kExitUsage);
        CHECK(ran.out.empty());
        CHECK_THAT(ran.err, ContainsSubstring("deft: error: ") && ContainsSubstring("help: "));
        return ran.err;
    };
    CHECK_THAT(wrong({}), ContainsSubstring("nothing to plan") && ContainsSubstring("--preset"));
    CHECK_THAT(wrong({"--preset", "bert_larg"}), ContainsSubstring("did you mean bert_large?"));
    CHECK_THAT(wrong({"bert_large"}), ContainsSubstring("write deft plan --preset bert_large"));
    CHECK_THAT(wrong({sweep.file.string(), "--preset", "bert_large"}),
               ContainsSubstring("--set model.preset=bert_large"));
    CHECK_THAT(wrong({"--preset", "bert_large", "--draws"}), ContainsSubstring("--draws"));
    CHECK_THAT(wrong({"--preset", "bert_large", "--set", "model.width=8"}), ContainsSubstring("--set"));
    CHECK_THAT(wrong({sweep.file.string(), "--hardware", "V10"}), ContainsSubstring("did you mean V100?"));
    CHECK_THAT(wrong({"--preset", "bert_large", "--hardware", "V10"}), ContainsSubstring("did you mean V100?"));
    CHECK_THAT(wrong({"--preset", "bert_large", "--hardware", "cpu core", "--dtype", "bf16"}),
               ContainsSubstring("no bf16"));
    CHECK_THAT(wrong({"--preset", "bert_large", "--usd-per-hour", "2"}), ContainsSubstring("--hardware"));
    for (const char* tokens : {"0", "-5", "1.5", "nan", "1e16", "many", "3 "})
        CHECK_THAT(wrong({"--preset", "bert_large", "--tokens", tokens}), ContainsSubstring("not a number of tokens"));
    for (const char* share : {"0", "-0.1", "1.01", "nan"})
        CHECK_THAT(wrong({"--preset", "bert_large", "--utilisation", share}),
                   ContainsSubstring("not a share of a peak"));
    for (const char* price : {"-1", "nan", "inf"})
        CHECK_THAT(wrong({"--preset", "bert_large", "--hardware", "V100", "--usd-per-hour", price}),
                   ContainsSubstring("is not a price"));
    for (const char* batch : {"0", "-1", "65537", "x"})
        CHECK_THAT(wrong({"--preset", "bert_large", "--micro-batch", batch}), ContainsSubstring("--micro-batch"));
}

TEST_CASE("deft plan predicts the steps of each preset on a named device, in text and JSON") {
    const TinySweep sweep("");
    const auto plan = [&](const char* preset, const char* hardware) {
        const Ran ran = plan_alone(sweep, {"--preset", preset, "--hardware", hardware, "--micro-batch", "2",
                                           "--devices", "4", "--tokens", "1e9", "--json"});
        INFO(ran.err);
        REQUIRE(ran.exit_code == kExitOk);
        return Json::parse(ran.out).at("hardware").at(0).at("predicted");
    };
    for (const char* preset :
         {"gpt2_small", "gpt3_350m", "gpt3_1.3b", "bert_large", "vit_b16", "llama_1b", "125m_moe64"}) {
        INFO(preset);
        const Json v100 = plan(preset, "V100"), h200 = plan(preset, "H200");
        CHECK(v100.at("label").get<std::string>() == "predicted by a model of the card, not measured");
        CHECK(v100.at("step_seconds").get<double>() > h200.at("step_seconds").get<double>());
        CHECK(h200.at("hours").get<double>() == Approx(1e9 / h200.at("tokens_per_second").get<double>() / 3600));
    }
    const Json gpt2 = plan("gpt2_small", "H200");
    CHECK(gpt2.at("tokens_per_second").get<double>() == Approx(4 * 2 * 1024 / gpt2.at("step_seconds").get<double>()));
    CHECK_THAT(plan("gpt2_small", "V100").at("rates").at("copy_bytes").at("source").get<std::string>(),
               ContainsSubstring("V100's data sheet x 0.884"));
    CHECK_THAT(plan("gpt2_small", "cpu core").at("lacks").get<std::string>(),
               ContainsSubstring("memory_bytes_per_second"));
    const Ran text = plan_alone(sweep, {"--preset", "gpt2_small"});
    CHECK_THAT(text.out, ContainsSubstring("Predicted, not measured: a step of 1 sample") &&
                             ContainsSubstring("No predicted step: cpu core"));
}

TEST_CASE("deft plan of a sweep predicts steps on a named device, and states what has none") {
    const TinySweep sweep(test::kPlain + test::kBothTechniques);
    CHECK_THAT(sweep.deft("plan", {}).out, !ContainsSubstring("Predicted"));
    const Ran text = sweep.deft("plan", {"--hardware", "V100", "--set", "model.heads=1"});
    INFO(text.out << text.err);
    REQUIRE(text.exit_code == kExitOk);
    CHECK_THAT(text.out, ContainsSubstring("Predicted by a model of the card, not measured: 1 V100 in f32") &&
                             ContainsSubstring("V100's data sheet x") && ContainsSubstring("up to 9 steps"));
    const Json predicted =
        Json::parse(sweep.deft("plan", {"--hardware", "V100", "--set", "model.heads=1", "--json"}).out).at("predicted");
    CHECK(predicted.at("device") == "V100");
    for (const Json& row : predicted.at("rows")) {
        CHECK(row.at("sampled_steps").size() >= 1);
        double seconds = 0;
        for (const Json& step : row.at("sampled_steps"))
            seconds += step.at("share").get<double>() * step.at("ops_seconds").get<double>();
        CHECK(row.at("ops_seconds").get<double>() == Approx(seconds));
        CHECK(row.at("step_seconds") == row.at("ops_seconds"));
    }
    const Ran lacking = sweep.deft("plan", {"--hardware", "cpu core"});
    REQUIRE(lacking.exit_code == kExitOk);
    CHECK_THAT(lacking.out, ContainsSubstring("No predicted step: cpu core has no memory_bytes_per_second"));
    CHECK(sweep.deft("plan", {"--hardware", "V10"}).exit_code == kExitUsage);
}
