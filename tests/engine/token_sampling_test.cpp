// Tokens drawn from logits, by hand.

#include <cmath>
#include <limits>
#include <map>

#include "engine/generation/sampling.h"
#include "tests/catch.h"

using namespace deft::engine;

namespace {

// Logits of probabilities, up to a constant.
std::vector<float> logits_of(std::vector<double> probabilities) {
    std::vector<float> logits;
    for (const double p : probabilities) logits.push_back(static_cast<float>(std::log(p) + 3));
    return logits;
}

// How often each token is drawn, of n positions.
std::map<std::int32_t, double> shares(const SamplingConfig& config, const std::vector<float>& logits, int n = 40'000) {
    TokenSampler sampler(config, static_cast<std::int64_t>(logits.size()));
    std::map<std::int32_t, double> share;
    for (int i = 0; i < n; ++i) share[sampler.choose(logits, i % 7, i / 7).token] += 1.0 / n;
    return share;
}

void check_shares(const std::map<std::int32_t, double>& got, const std::map<std::int32_t, double>& expected) {
    CHECK(got.size() == expected.size());
    for (const auto& [token, share] : expected) {
        INFO("token " << token);
        REQUIRE(got.contains(token));
        CHECK(std::abs(got.at(token) - share) < 0.013);  // five standard deviations of 40,000 draws
    }
}

}  // namespace

TEST_CASE("greedy takes the largest logit, of equal ones the lowest id") {
    TokenSampler sampler({}, 5);
    CHECK(sampler.choose(std::vector<float>{1, 4, 2, 4, 3}, 0, 0).token == 1);
    CHECK(sampler.choose(std::vector<float>{-5, -4, -4, -7, -4}, 0, 0).token == 1);
    CHECK(sampler.choose(std::vector<float>{0, 0, 0, 0, 1e-30f}, 0, 0).token == 4);
}

TEST_CASE("a choice has the model's own log-probability, whatever it was drawn by") {
    const std::vector<float> logits = logits_of({0.1, 0.2, 0.3, 0.4});
    for (const SamplingConfig& config : {SamplingConfig{}, {2.0, 0, 1, 3}, {1.0, 2, 1, 3}, {0.5, 0, 0.6, 3}}) {
        const Choice choice = TokenSampler(config, 4).choose(logits, 2, 9);
        CHECK(std::abs(choice.log_probability - std::log(0.1 * (choice.token + 1))) < 1e-6);
    }
}

TEST_CASE("draws follow the probabilities, which the temperature bends") {
    const std::vector<float> logits = logits_of({0.1, 0.2, 0.3, 0.4});
    check_shares(shares({1.0, 0, 1, 5}, logits), {{0, 0.1}, {1, 0.2}, {2, 0.3}, {3, 0.4}});
    // Squares: 1, 4, 9, 16 of 30. Square roots: 1, sqrt 2, sqrt 3, 2 of 6.1463.
    check_shares(shares({0.5, 0, 1, 5}, logits), {{0, 1 / 30.}, {1, 4 / 30.}, {2, 9 / 30.}, {3, 16 / 30.}});
    check_shares(shares({2.0, 0, 1, 5}, logits), {{0, 0.16270}, {1, 0.23009}, {2, 0.28180}, {3, 0.32540}});
}

TEST_CASE("top-k draws from the k largest logits alone, of equal ones the lowest ids") {
    const std::vector<float> logits = logits_of({0.1, 0.2, 0.3, 0.4});
    check_shares(shares({1.0, 2, 1, 6}, logits), {{2, 3 / 7.}, {3, 4 / 7.}});
    check_shares(shares({1.0, 1, 1, 6}, logits), {{3, 1}});
    check_shares(shares({1.0, 9, 1, 6}, logits), {{0, 0.1}, {1, 0.2}, {2, 0.3}, {3, 0.4}});
    check_shares(shares({1.0, 2, 1, 6}, logits_of({0.2, 0.2, 0.4, 0.2})), {{0, 1 / 3.}, {2, 2 / 3.}});
}

TEST_CASE("top-p draws from the fewest largest probabilities that reach p") {
    const std::vector<float> logits = logits_of({0.1, 0.2, 0.3, 0.4});
    check_shares(shares({1.0, 0, 0.39, 7}, logits), {{3, 1}});
    check_shares(shares({1.0, 0, 0.41, 7}, logits), {{2, 3 / 7.}, {3, 4 / 7.}});
    check_shares(shares({1.0, 0, 0.69, 7}, logits), {{2, 3 / 7.}, {3, 4 / 7.}});
    check_shares(shares({1.0, 0, 0.71, 7}, logits), {{1, 2 / 9.}, {2, 3 / 9.}, {3, 4 / 9.}});
    check_shares(shares({1.0, 0, 1e-9, 7}, logits), {{3, 1}});
    // Shares of the two that top-k leaves: 4/7 and 3/7; at temperature 0.5 of all four the largest has 16/30.
    check_shares(shares({1.0, 2, 0.56, 7}, logits), {{3, 1}});
    check_shares(shares({1.0, 2, 0.58, 7}, logits), {{2, 3 / 7.}, {3, 4 / 7.}});
    check_shares(shares({0.5, 0, 0.52, 7}, logits), {{3, 1}});
    check_shares(shares({0.5, 0, 0.55, 7}, logits), {{2, 9 / 25.}, {3, 16 / 25.}});
}

TEST_CASE("of many tokens top-p draws from as many as are needed", "[slow]") {
    // 1000 equal ones of 2000, the others so small that they do not count; their ids in between.
    std::vector<double> probabilities;
    for (int i = 0; i < 1000; ++i) probabilities.insert(probabilities.end(), {1e-9, 0.001});
    const std::vector<float> logits = logits_of(probabilities);
    const auto half = shares({1.0, 0, 0.4999, 8}, logits);
    CHECK(half.size() == 500);
    for (const auto& [token, share] : half) CHECK((token % 2 == 1 && token < 1000));
    CHECK(shares({1.0, 0, 0.8995, 8}, logits).size() == 900);
}

TEST_CASE("a draw is of its seed, sample and position, and what has no weight is never drawn") {
    const std::vector<float> logits(1000, 0.5f);
    TokenSampler sampler({1.0, 0, 1, 21}, 1000), other({1.0, 0, 1, 22}, 1000);
    const std::int32_t token = sampler.choose(logits, 3, 5).token;
    CHECK(sampler.choose(logits, 3, 5).token == token);
    CHECK(sampler.choose(logits, 4, 5).token != token);
    CHECK(sampler.choose(logits, 3, 6).token != token);
    CHECK(other.choose(logits, 3, 5).token != token);

    std::vector<float> two(1000, -std::numeric_limits<float>::infinity());
    two[10] = two[990] = 1;
    check_shares(shares({1.0, 0, 1, 2}, two), {{10, 0.5}, {990, 0.5}});
}

TEST_CASE("sampling refuses settings and logits that make no sense") {
    const double nan = std::nan("");
    CHECK_THROWS_WITH(TokenSampler({-1.0}, 4), ContainsSubstring("a temperature of -1"));
    CHECK_THROWS_WITH(TokenSampler({nan}, 4), ContainsSubstring("a temperature of nan"));
    CHECK_THROWS_WITH(TokenSampler({1.0, -2}, 4), ContainsSubstring("a top-k of -2"));
    for (const double p : {0.0, 1.1, -0.5, nan})
        CHECK_THROWS_WITH(TokenSampler({1.0, 0, p}, 4), ContainsSubstring("a top-p of"));
    TokenSampler sampler({}, 3);
    const float inf = std::numeric_limits<float>::infinity();
    CHECK_THROWS_WITH(sampler.choose(std::vector<float>{1, std::nanf(""), 2}, 0, 0), ContainsSubstring("not finite"));
    CHECK_THROWS_WITH(sampler.choose(std::vector<float>{1, inf, 2}, 0, 0), ContainsSubstring("not finite"));
    CHECK_THROWS_WITH(sampler.choose(std::vector<float>{-inf, -inf, -inf}, 0, 0), ContainsSubstring("not finite"));
    CHECK_THROWS_AS(sampler.choose(std::vector<float>{1, 2}, 0, 0), std::logic_error);
}
