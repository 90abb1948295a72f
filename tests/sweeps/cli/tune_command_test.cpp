// deft tune through the program, on tiny sweeps.

#include "base/config.h"
#include "sweeps/spec/expand.h"
#include "tests/sweeps/program.h"

using namespace deft;
using test::kPlain;
using test::Ran;
using test::TinySweep;

namespace {

const std::string kWarmup = "train.warmup_tokens=512";

// The tiny sweep's training has 64 steps of 64 tokens: three warm-ups of 512 are 24 of them.
Ran tune(const TinySweep& sweep, std::vector<std::string> more) {
    more.insert(more.begin(), sweep.file.string());
    more.insert(more.end(), {"--root", sweep.root.string(), "--slots", "cpu:1"});
    return sweep.deft("tune", more);
}

std::string toml_of(const std::string& out) {
    const std::size_t begin = out.find("# deft tune");
    return begin == std::string::npos ? "" : out.substr(begin);
}

}  // namespace

TEST_CASE("deft tune finds a start and a duration, and writes a recipe that the sweep takes", "[slow]") {
    const TinySweep sweep(kPlain + test::kBothTechniques);
    const Ran ran = tune(sweep, {"both", "--set", kWarmup});
    REQUIRE(ran.exit_code == kExitOk);
    CHECK_THAT(ran.out, ContainsSubstring("curriculum.seqtru: start") && ContainsSubstring("random_ltd: duration") &&
                            ContainsSubstring("combined"));
    CHECK_THAT(ran.out, ContainsSubstring("only the first 3 warm-ups") && ContainsSubstring("Probes: ") &&
                            ContainsSubstring("as tuned") && ContainsSubstring("Compared with the baseline"));
    const std::string toml = toml_of(ran.out);
    REQUIRE(!toml.empty());
    CHECK_THAT(toml, ContainsSubstring("--set " + kWarmup));

    const auto file = sweep.folder.write("tuned.toml", read_file(sweep.file) + toml);
    const sweeps::Spec spec = sweeps::load_spec(file);
    REQUIRE(spec.find_recipe("both-tuned") != nullptr);
    const auto trials = sweeps::expand(spec);
    REQUIRE(trials.size() == 3);
    const Json tuned = to_json(trials[2].config), own = to_json(trials[1].config);
    for (const char* technique : {"curriculum", "random_ltd"}) {
        const Json& a = technique == std::string("curriculum") ? tuned["curriculum"]["seqtru"] : tuned[technique];
        const Json& b = technique == std::string("curriculum") ? own["curriculum"]["seqtru"] : own[technique];
        CHECK(a["min"] <= b["min"]);
        CHECK(a["duration"] >= b["duration"]);
        CHECK(a["max"] == b["max"]);
    }
    CHECK(tune(sweep, {"both", "--set", kWarmup}).out.find("min = 4") != std::string::npos);
}

TEST_CASE("deft tune searches as many learning rates for the baseline as for the technique", "[slow]") {
    const TinySweep sweep(kPlain + test::kBothTechniques);
    const std::string file = (sweep.folder.path / "found.toml").string();
    const Ran ran = tune(sweep, {"both", "--set", kWarmup, "--learning-rates", "3", "--out", file});
    REQUIRE(ran.exit_code == kExitOk);
    CHECK_THAT(ran.out, ContainsSubstring("Baseline: learning rates 0.0005") &&
                            ContainsSubstring("Technique: learning rates 0.0005") &&
                            ContainsSubstring("Wrote a [[case]]"));
    const std::string written = read_file(file);
    CHECK_THAT(written, ContainsSubstring("[[case]]") && ContainsSubstring("Best learning rate of the baseline"));
    CHECK(toml_of(ran.out).empty());

    const Ran again = tune(sweep, {"both", "--set", kWarmup, "--out", file});
    CHECK(again.exit_code == kExitUsage);
    CHECK_THAT(again.err, ContainsSubstring("--force"));
    CHECK(read_file(file) == written);
    CHECK(tune(sweep, {"both", "--set", kWarmup, "--out", file, "--force"}).exit_code == kExitOk);
    CHECK(read_file(file) != written);
    CHECK(tune(sweep, {"both", "--out", (sweep.folder.path / "no" / "f.toml").string()}).exit_code == kExitUsage);
}

TEST_CASE("deft tune measures probes by a warm-up in steps as the baseline has it, which cuts no step") {
    const TinySweep sweep(kPlain + test::kBothTechniques);
    const Ran ran = tune(sweep, {"both", "--set", "train.warmup_steps=8"});
    REQUIRE(ran.exit_code == kExitOk);
    CHECK_THAT(ran.out, ContainsSubstring("warm-ups of 512 consumed tokens"));
}

TEST_CASE("deft tune writes nothing where everything fluctuates") {
    const TinySweep sweep(kPlain + test::kBothTechniques);
    const std::string file = (sweep.folder.path / "found.toml").string();
    const Ran ran = tune(sweep, {"both", "--set", kWarmup, "--set", "train.learning_rate=3", "--set",
                                 "train.max_grad_norm=0", "--out", file});
    CHECK(ran.exit_code == kExitFailed);
    CHECK_THAT(ran.out,
               ContainsSubstring("the training itself fluctuates") && ContainsSubstring("No recipe is written"));
    CHECK(!std::filesystem::exists(file));
}

TEST_CASE("deft tune says what it cannot tune") {
    const TinySweep sweep(kPlain + test::kBothTechniques);
    const Ran unknown = tune(sweep, {"bth", "--set", kWarmup});
    CHECK(unknown.exit_code == kExitUsage);
    CHECK_THAT(unknown.err, ContainsSubstring("did you mean both?"));
    const Ran plain = tune(sweep, {"plain", "--set", kWarmup});
    CHECK(plain.exit_code == kExitUsage);
    CHECK_THAT(plain.err, ContainsSubstring("has no technique that grows"));
    const Ran cold = tune(sweep, {"both"});
    CHECK(cold.exit_code == kExitUsage);
    CHECK_THAT(cold.err, ContainsSubstring("--warmup-tokens"));
    CHECK(tune(sweep, {"both", "--warmup-tokens", "512"}).exit_code == kExitOk);
}

TEST_CASE("deft tune stopped by Ctrl-C prints what it has") {
    // Long enough to be still at its first probes, whatever the machine.
    const TinySweep sweep(kPlain + test::kBothTechniques);
    const std::vector<std::string> argv = {DEFT_PROGRAM,
                                           "tune",
                                           sweep.file.string(),
                                           "both",
                                           "--root",
                                           sweep.root.string(),
                                           "--set",
                                           "train.budget_tokens=400000000",
                                           "--warmup-tokens",
                                           "100000000",
                                           "--slots",
                                           "cpu:1"};
    test::Process process(argv, sweep.out(), sweep.err());
    // Its corpus is prepared once signals are watched.
    REQUIRE(test::wait_until([&] {
        std::error_code ignored;
        return std::filesystem::exists(sweep.root / "data", ignored);
    }));
    process.signal(SIGINT);
    CHECK(process.wait() == kExitWorkLeft);
    CHECK_THAT(read_file(sweep.out()), ContainsSubstring("Stopped early") && ContainsSubstring("stopped"));
}
