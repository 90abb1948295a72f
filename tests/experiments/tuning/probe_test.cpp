// Probes of real trainings on the embedded corpus.

#include "experiments/tuning/probe.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

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

    Dataset dataset() const {
        return load_dataset(config.data, config.model.seqlen, config.base_folder, folder / "data");
    }
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

TEST_CASE("probe: a NaN loss is a fluctuation") {
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

namespace {

// One point a tenth of a warm-up.
std::vector<LossPoint> curve(const std::vector<double>& losses) {
    std::vector<LossPoint> points;
    for (std::size_t i = 0; i < losses.size(); ++i)
        points.push_back({static_cast<double>(i) / 10, static_cast<std::int64_t>(i), losses[i]});
    return points;
}

}  // namespace

TEST_CASE("fluctuation: a falling loss, a flat one and one within the threshold are steady") {
    CHECK(!find_fluctuation(curve({}), {}));
    CHECK(!find_fluctuation(curve({5, 4, 3, 2}), {}));
    CHECK(!find_fluctuation(curve({5, 5, 5}), {}));
    CHECK(!find_fluctuation(curve({5, 4, 4.039, 3.9}), {}));
}

TEST_CASE("fluctuation: the first point above the running minimum by more than the threshold") {
    const auto found = find_fluctuation(curve({5, 4, 4.03, 3, 3.06, 9}), {});
    REQUIRE(found);
    CHECK(found->point == 4);
    CHECK(found->minimum == 3);
    CHECK(found->excess == Approx(0.02));
    CHECK(!find_fluctuation(curve({5, 4, 4.03, 3, 3.06}), {.threshold = 0.03}));
}

TEST_CASE("fluctuation: a slow rise adds up against the minimum") {
    CHECK(find_fluctuation(curve({4, 4.015, 4.03, 4.045}), {})->point == 3);
}

TEST_CASE("fluctuation: only a limited number of warm-ups is checked, their end included") {
    std::vector<double> losses(40, 3.0);
    losses[31] = 4;
    CHECK(!find_fluctuation(curve(losses), {}));
    losses[30] = 4;
    CHECK(find_fluctuation(curve(losses), {})->point == 30);
    CHECK(!find_fluctuation(curve(losses), {.warmups = 2}));
}

TEST_CASE("fluctuation: NaN is one") {
    for (const double loss : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        const auto found = find_fluctuation(curve({5, loss}), {});
        REQUIRE(found);
        CHECK(found->point == 1);
        CHECK(std::isinf(found->excess));
        CHECK(find_fluctuation(curve({loss, 5}), {})->point == 0);
    }
}

TEST_CASE("fluctuation: found where a random falling curve is lifted, and nowhere else") {
    const unsigned seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    for (int round = 0; round < 100; ++round) {
        std::vector<double> losses = {10};
        for (int i = 1; i <= 30; ++i)
            losses.push_back(losses.back() * std::uniform_real_distribution(0.9, 1.0)(random));
        CHECK(!find_fluctuation(curve(losses), {}));
        const std::size_t at = std::uniform_int_distribution<std::size_t>(1, 30)(random);
        losses[at] = losses[at - 1] * 1.02;
        const auto found = find_fluctuation(curve(losses), {});
        REQUIRE(found);
        CHECK(found->point == at);
        CHECK(found->excess == Approx(0.02));
    }
}
