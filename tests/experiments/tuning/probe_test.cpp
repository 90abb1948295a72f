// Probes of real trainings on the embedded corpus.

#include "experiments/tuning/probe.h"

#include <cmath>

#include "base/config.h"
#include "experiments/projection.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::experiments;

namespace {

constexpr std::int64_t kWarmup = 2048;  // 32 steps of 4 samples of 16

struct Tiny {
    explicit Tiny(const std::string& more = "", const std::string& train = "learning_rate = 2e-3\n") {
        config = parse_trial_config(
            parse_toml("[model]\nlayers = 3\nwidth = 16\nheads = 2\nseqlen = 16\n[data]\nembedded_bytes = 20000\n"
                       "[train]\nbatch_size = 4\nbudget_tokens = 20480\nwarmup_tokens = 2048\n" +
                           train + more,
                       "t.toml"),
            1, folder.path());
        resolve_data(config);
        settings.warmup_tokens = kWarmup;
        settings.validation_tokens = 512;
    }

    Dataset dataset() const { return load_dataset(config.data, config.base_folder, folder / "data"); }
    Probe probe() const {
        return run_probe(config, dataset(), settings, [](double) { return true; });
    }

    test::TemporaryFolder folder;
    TrialConfig config;
    ProbeSettings settings;
};

}  // namespace

TEST_CASE("probe: a sound configuration passes, and is trained for three warm-ups alone") {
    const Tiny tiny;
    const Probe probe = tiny.probe();
    CHECK(probe.passes());
    CHECK(probe.steps == 96);
    CHECK(probe.input_tokens == 3 * kWarmup);
    REQUIRE(probe.curve.size() == 31);
    for (std::size_t i = 0; i < probe.curve.size(); ++i) CHECK(probe.curve[i].warmups == Approx(0.1 * i));
    CHECK(probe.last_loss() < probe.curve.front().loss);
    CHECK(probe.evaluated_tokens == 31 * 512);
    CHECK(probe.seconds > 0);
}

TEST_CASE("probe: what it costs is counted as trials and evaluations are") {
    const Tiny tiny;
    const Probe probe = tiny.probe();
    TrialConfig whole = tiny.config;
    whole.train.budget_tokens = 3 * kWarmup;
    const Projection projection = project(whole);
    CHECK(probe.input_tokens == projection.input_tokens);
    // A forward pass takes a third of a training step on as many tokens.
    const double evaluation = projection.flops / 3 * static_cast<double>(probe.evaluated_tokens) /
                              static_cast<double>(projection.input_tokens);
    CHECK(probe.flops == Approx(projection.flops + evaluation));
}

TEST_CASE("probe: the same configuration gives the same curve to the last bit, whatever the threads") {
    Tiny tiny(
        "[curriculum.seqtru]\nmin = 8\ndifficulty_step = 4\nduration = 0.5\n[random_ltd]\nmin = 8\nduration = 0.8\n");
    tiny.settings.rule.warmups = 1;
    const Probe first = tiny.probe();
    tiny.settings.threads = 2;
    const Probe second = tiny.probe();
    CHECK(first.curve.size() == 11);
    REQUIRE(first.curve.size() == second.curve.size());
    for (std::size_t i = 0; i < first.curve.size(); ++i) CHECK(first.curve[i].loss == second.curve[i].loss);
    CHECK(first.flops == second.flops);
}

TEST_CASE("probe: an absurd learning rate is rejected, and not trained on") {
    const Tiny tiny("", "learning_rate = 1\nmax_grad_norm = 0\n");
    const Probe probe = tiny.probe();
    REQUIRE(probe.fluctuation);
    CHECK(probe.fluctuation->excess > 0.05);
    CHECK(probe.fluctuation->point + 1 == probe.curve.size());
    CHECK(probe.steps < 96);
}

TEST_CASE("probe: a loss that is no number is a fluctuation") {
    const Tiny tiny("", "learning_rate = 1e30\nmax_grad_norm = 0\n");
    const Probe probe = tiny.probe();
    REQUIRE(probe.fluctuation);
    CHECK(!probe.passes());
    CHECK(probe.steps < 96);
}

TEST_CASE("probe: a budget that ends before three warm-ups ends it") {
    Tiny tiny;
    tiny.settings.warmup_tokens = 4 * kWarmup;
    const Probe probe = tiny.probe();
    CHECK(probe.passes());
    CHECK(probe.input_tokens == 20480);
    CHECK(probe.curve.back().warmups == Approx(2.5));
}

TEST_CASE("probe: steps longer than the marks are evaluated once each") {
    Tiny tiny;
    tiny.settings.warmup_tokens = 128;  // two steps
    const Probe probe = tiny.probe();
    CHECK(probe.steps == 6);
    REQUIRE(probe.curve.size() == 7);
    CHECK(probe.curve.back().warmups == 3);
}

TEST_CASE("probe: stops when asked to, and refuses a warm-up of nothing") {
    Tiny tiny;
    int asked = 0;
    const Probe probe = run_probe(tiny.config, tiny.dataset(), tiny.settings, [&](double) { return ++asked <= 5; });
    CHECK(probe.stopped);
    CHECK(!probe.passes());
    CHECK(probe.steps == 5);
    tiny.settings.warmup_tokens = 0;
    CHECK_THROWS_AS(tiny.probe(), Error);
}
