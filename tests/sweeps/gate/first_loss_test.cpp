// The first loss shows whether the timed step trains the intended model.

#include "sweeps/gate/first_loss.h"

#include <cmath>
#include <limits>

#include "sweeps/gate/preset_steps.h"
#include "tests/catch.h"
#include "tests/refusal.h"

using namespace deft;
using namespace deft::sweeps;

TEST_CASE("a first loss may be 5% off, and of the classes of few samples four deviations of their mean") {
    engine::StepBench bench = preset_step("vit_mini", 2);
    REQUIRE(bench.model.width == 192);
    REQUIRE(bench.model.init_std == Approx(0.02));
    const double expected = std::log(10) + 192 * 0.0004 / 2;
    CHECK(engine::first_loss_tolerance(bench) == Approx(4 * std::sqrt(192 * 0.0004 / 2)));
    CHECK_NOTHROW(require_first_loss("it", expected + 0.78, bench));
    CHECK_THROWS(require_first_loss("it", expected + 0.79, bench));
    CHECK_NOTHROW(require_first_loss("it", expected - 0.78, bench));
    CHECK_THROWS(require_first_loss("it", expected - 0.79, bench));
    bench.batch_size = 1000;
    CHECK(engine::first_loss_tolerance(bench) == Approx(0.05 * expected));

    // Masked tokens are many, beside which two samples' order is little.
    const engine::StepBench both = preset_step("bert_mini", 2);
    CHECK(engine::first_loss_tolerance(both) == Approx(0.05 * engine::expected_first_loss(both.model)));
    const engine::StepBench tokens = preset_step("gpt_mini", 1);
    const double of_tokens = engine::expected_first_loss(tokens.model);
    CHECK(engine::first_loss_tolerance(tokens) == Approx(0.05 * of_tokens));
    CHECK_NOTHROW(require_first_loss("it", 1.049 * of_tokens, tokens));
    CHECK_THAT(test::refusal(ErrorKind::data, [&] { require_first_loss("PyTorch", 1.051 * of_tokens, tokens); }),
               ContainsSubstring("PyTorch begins with a loss of"));
    CHECK_THROWS(require_first_loss("it", std::numeric_limits<double>::quiet_NaN(), tokens));
}

TEST_CASE("images two at a time begin as they should") {
    const engine::StepBench bench = preset_step("vit_mini", 2);
    engine::Trainer trainer(engine::trainer_config_of(bench), engine::random_training_data(bench), 1);
    CHECK_NOTHROW(require_first_loss("it", trainer.step().loss, bench));
}
