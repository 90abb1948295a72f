// The weights that a token reads in models with and without experts, compared with counts by hand.

#include "engine/bench/expert_inference.h"
#include "base/error.h"
#include "tests/catch.h"

using namespace deft;
using namespace deft::engine;

namespace {

constexpr ExpertInferenceBench kSmall = {
    .layers = 4, .width = 8, .heads = 2, .vocab = 50, .experts = 6, .top = 1, .prompt = 3, .tokens = 9, .threads = 1};

// A GPT-2 without positions: the vocabulary, norms, attention, and `feed_forwards` feed-forward parts in all layers.
double bytes_of(std::int64_t width, std::int64_t feed_forwards, std::int64_t gates) {
    const std::int64_t C = width, layers = 4, hidden = 4 * C;
    const std::int64_t attention = 4 * C * C + 4 * C, norms = 4 * C;
    const std::int64_t feed_forward = 2 * C * hidden + hidden + C;
    return 4.0 * static_cast<double>(50 * C + 2 * C + layers * (attention + norms) + feed_forwards * feed_forward +
                                     gates * 6 * C);
}

WeightsRead read_of(const ExpertInferenceBench& bench, std::size_t model, std::int64_t samples) {
    return InferenceRun(bench, inference_models(bench).at(model).config, samples).weights_read();
}

}  // namespace

TEST_CASE("a token of one text reads one expert of each layer, and of dense models all weights") {
    CHECK(read_of(kSmall, 0, 1).bytes == bytes_of(8, 4, 0));
    CHECK(read_of(kSmall, 0, 7).bytes == bytes_of(8, 4, 0));
    CHECK(read_of(kSmall, 0, 1).experts_touched == 0);
    CHECK(read_of(kSmall, 2, 1).bytes == bytes_of(16, 4, 0));
    const WeightsRead one = read_of(kSmall, 1, 1);
    CHECK(one.experts_touched == 1);
    CHECK(one.bytes == bytes_of(8, 4, 2));
    ExpertInferenceBench two = kSmall;
    two.top = 2;
    CHECK(read_of(two, 1, 1).experts_touched == 2);
    CHECK(read_of(two, 1, 1).bytes == bytes_of(8, 6, 2));
}

TEST_CASE("more texts at once read more experts, up to all") {
    const WeightsRead few = read_of(kSmall, 1, 3), many = read_of(kSmall, 1, 40);
    CHECK(few.experts_touched > 1);
    CHECK(few.experts_touched <= 3);
    CHECK(many.experts_touched > few.experts_touched);
    CHECK(many.experts_touched <= 6);
    // Two layers of experts, where each expert replaces a feed-forward part.
    CHECK(few.bytes == Approx(bytes_of(8, 2, 2) + few.experts_touched * (bytes_of(8, 4, 0) - bytes_of(8, 2, 0))));
    ExpertInferenceBench all = kSmall;
    all.top = 6;
    CHECK(read_of(all, 1, 1).bytes == bytes_of(8, 14, 2));
}

TEST_CASE("a run of inference takes time, and sizes that do not fit are refused") {
    InferenceRun run(kSmall, inference_models(kSmall).at(1).config, 2);
    CHECK(run.run() > 0);
    CHECK(run.run() > 0);
    ExpertInferenceBench wrong = kSmall;
    wrong.layers = 3;
    CHECK_THROWS_AS(inference_models(wrong), Error);
    wrong = kSmall;
    wrong.top = 7;
    CHECK_THROWS_AS(inference_models(wrong), Error);
}
