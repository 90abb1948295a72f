// Token bypass: what it learns and what it keeps, by hand.

#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.h"
#include "kernels/entry_loss.h"
#include "tests/catch.h"
#include "tests/engine/small_dropping.h"

using namespace deft::engine;

namespace {

TokenDropping bypass_of(double decay, std::vector<std::int64_t> special, std::int64_t keep_first = 0) {
    return bypass_on({1, 2}, {3, 3, 1, 0, 1}, keep_first, {decay, std::move(special)});
}

std::vector<float> importance_of(const SmallDropping& dropping) {
    return values<float>(dropping.planned.choice.state);
}

}  // namespace

TEST_CASE("token bypass on a vocabulary of five, by hand") {
    SmallDropping dropping(bypass_of(0.5, {4}), 4, 6, 5, 2);
    CHECK(importance_of(dropping) == std::vector<float>{10, 10, 10, 10, INFINITY});
    // Entry 1 has losses 2 and 4, entry 2 has 1; entry 4 is special; the ignored target counts for nothing.
    dropping.learn({2, 4, 1, 9, 50}, {1, 1, 2, 4, -1}, 5);
    CHECK(importance_of(dropping) == std::vector<float>{10, 6.5, 5.5, 10, INFINITY});
    dropping.learn({1}, {2}, 1);
    CHECK(importance_of(dropping) == std::vector<float>{10, 6.5, 3.25, 10, INFINITY});
    const std::vector<std::int32_t> token = {1, 2, 0, 1, 4, 2,   // the special one, the unseen one, the first 6.5
                                             2, 2, 1, 2, 1, 1};  // the three 6.5
    CHECK(dropping.select(3, {0, 1}, 1, 0, token) == std::vector<std::int32_t>{0, 2, 4, 2, 4, 5});
    CHECK(dropping.select(4, {0, 1}, 1, 0, token) == std::vector<std::int32_t>{0, 2, 3, 4, 0, 2, 4, 5});
    // The first sample has three real tokens, the second none.
    CHECK(dropping.select(3, {0, 1}, 1, 0, token, {3, 0}) == std::vector<std::int32_t>{0, 1, 2, 0, 1, 2});
    CHECK(dropping.select(2, {0, 1}, 1, 0, token, {4, 6}) == std::vector<std::int32_t>{0, 2, 2, 4});
    // The choice depends on neither seed nor step nor sample.
    CHECK(dropping.select(3, {7, 8}, 2, 5, token) == dropping.select(3, {0, 1}, 1, 0, token));
    CHECK(dropping.select(6, {0, 1}, 1, 0, token).empty());  // all tokens: nothing is dropped
}

TEST_CASE("token bypass keeps the first positions before special tokens") {
    SmallDropping dropping(bypass_of(0.5, {4}, 2), 4, 6, 5, 1);
    CHECK(dropping.select(3, {0}, 1, 0, {1, 2, 0, 1, 4, 2}) == std::vector<std::int32_t>{0, 1, 4});
    CHECK(dropping.select(3, {0}, 1, 0, {1, 2, 4, 4, 4, 4}) == std::vector<std::int32_t>{0, 1, 2});  // no room for all
}

TEST_CASE("all layers of a bypass take one set, gathered once") {
    SmallDropping dropping(bypass_of(0.5, {}), 4, 6, 5, 1);
    CHECK(dropping.planned.set_of_layer == std::vector<std::int32_t>{-1, 0, 0, -1});
    std::vector<std::int32_t> index(3);
    const KeptTokens kept{make_tensor(index.data(), DType::i32, {1, 1, 3}), dropping.planned.set_of_layer};
    CHECK_FALSE(kept.rows(0).index);
    CHECK((kept.rows(1).gathers && !kept.rows(1).scatters));
    CHECK((!kept.rows(2).gathers && kept.rows(2).scatters));
    CHECK_FALSE(kept.rows(3).index);
}

TEST_CASE("importance has the same bits however a step is split, and in any order") {
    const std::uint64_t seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    std::vector<float> loss(300);
    std::vector<std::int32_t> target(300);
    for (std::size_t i = 0; i < loss.size(); ++i) {
        loss[i] = std::exponential_distribution<float>(0.3f)(random);
        target[i] = static_cast<std::int32_t>(random() % 11);
    }
    SmallDropping whole(bypass_of(0.9, {}), 4, 6, 11, 1);
    whole.learn(loss, target, loss.size());
    const std::vector<float> expected = importance_of(whole);
    for (const std::size_t at_once : {1u, 7u, 150u}) {
        std::vector<std::size_t> order(loss.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::shuffle(order.begin(), order.end(), random);
        std::vector<float> shuffled_loss;
        std::vector<std::int32_t> shuffled_target;
        for (const std::size_t i : order) {
            shuffled_loss.push_back(loss[i]);
            shuffled_target.push_back(target[i]);
        }
        SmallDropping split(bypass_of(0.9, {}), 4, 6, 11, 1);
        split.learn(shuffled_loss, shuffled_target, at_once);
        CHECK(importance_of(split) == expected);
    }
}

TEST_CASE("a step that diverged teaches nothing, and leaves nothing for the next") {
    SmallDropping dropping(bypass_of(0.5, {}), 4, 6, 3, 1);
    dropping.learn({5, NAN}, {0, 1}, 2, NAN);
    CHECK(importance_of(dropping) == std::vector<float>{10, 10, 10});
    dropping.learn({2}, {1}, 1);
    CHECK(importance_of(dropping) == std::vector<float>{10, 6, 10});
}

TEST_CASE("losses as integers, by hand") {
    using deft::kernels::fixed_point_loss;
    CHECK(fixed_point_loss(1) == 1 << 24);
    CHECK(fixed_point_loss(0.6 / (1 << 24)) == 1);
    CHECK(fixed_point_loss(0.4 / (1 << 24)) == 0);
    CHECK(fixed_point_loss(1e9) == std::int64_t{1024} << 24);
    CHECK(fixed_point_loss(-3) == 0);
    CHECK(fixed_point_loss(NAN) == 0);
}

TEST_CASE("a special token beyond the vocabulary is refused") {
    CHECK_THROWS_WITH(SmallDropping(bypass_of(0.5, {5}), 4, 6, 5, 1), ContainsSubstring("special token 5"));
}

TEST_CASE("token bypass moves the importance of what was trained on, and its run has fewer layer tokens") {
    TrainerConfig config = tiny_config(4, 13, 6);
    config.techniques.dropping = token_dropping("token_bypass", 4, {5, 5, 1, 0, 1});
    const TokenCorpus corpus = tiny_corpus(4000, config.model.vocab);
    Trainer whole(config, corpus, 1);
    const StepResult result = whole.step();
    CHECK(result.plan.layer_tokens == 9);  // (13 * 2 + 5 * 2) / 4
    CHECK(whole.kept().index.shape_text() == "(1, 6, 5) i32");
    const auto learnt = values<float>(whole.dropper_state());
    // 78 targets of 31 entries, whose losses are near ln 31 = 3.4: most have moved by 0.005 of the way there.
    CHECK(std::count(learnt.begin(), learnt.end(), 10.0f) < 15);
    for (const float value : learnt) CHECK((value == 10.0f || (value > 9.95f && value < 9.99f)));
    for (const std::int64_t micro : {1, 4}) {
        config.micro_batch_size = micro;
        Trainer split(config, corpus, 1);
        split.step();
        const auto again = values<float>(split.dropper_state());
        for (std::size_t v = 0; v < learnt.size(); ++v) CHECK(again[v] == Approx(learnt[v]).epsilon(1e-6));
    }
}
