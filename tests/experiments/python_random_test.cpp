// Python's random module, number for number.

#include "experiments/evaluation/python_random.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "tests/catch.h"
#include "tests/golden.h"

using namespace deft;
using experiments::PythonRandom;

namespace {

using Indices = std::vector<std::size_t>;

Indices range(std::size_t n) {
    Indices items(n);
    std::iota(items.begin(), items.end(), std::size_t{0});
    return items;
}

// "sample_range2251_k10 (set method)" -> 2251, 10
std::pair<std::size_t, std::size_t> range_and_k(const std::string& name) {
    const std::size_t begin = name.find("_range") + 6, k = name.find("_k", begin);
    return {std::stoul(name.substr(begin, k - begin)), std::stoul(name.substr(k + 2))};
}

void check_vector(std::uint64_t seed, const std::string& name, const Json& expected) {
    INFO("seed " << seed << ", " << name);
    PythonRandom random(seed);
    if (name == "getrandbits32") {
        for (const Json& value : expected) CHECK(random.getrandbits(32) == value.get<std::uint32_t>());
    } else if (name == "random") {
        for (const Json& value : expected) CHECK(random.random() == value.get<double>());
    } else if (name == "shuffle_range10") {
        Indices items = range(10);
        random.shuffle(items);
        CHECK(items == expected.get<Indices>());
    } else if (name.starts_with("sample_")) {
        const auto [n, k] = range_and_k(name);
        CHECK(random.sample(n, k) == expected.get<Indices>());
    } else if (name.starts_with("choices_")) {
        const auto [n, k] = range_and_k(name);
        CHECK(random.choices(n, k) == expected.get<Indices>());
    } else {
        REQUIRE(name == "randbelow 1,2,3,7,8,10,100,1000,2251,40398");
        Indices drawn;
        for (const std::uint32_t n : {1, 2, 3, 7, 8, 10, 100, 1000, 2251, 40398}) drawn.push_back(random.randbelow(n));
        CHECK(drawn == expected.get<Indices>());
    }
}

// The documents and shots of one line of draws, without looking at records: lambada and copa of the current version
// draw one more and leave out the document itself.
void check_draws(const std::string& name, const Json& draws) {
    INFO(name);
    const bool old = name.find("0.2.0") != std::string::npos;
    const auto k = std::stoul(name.substr(name.find("k=") + 2));
    const auto eval = draws.at("n_eval").get<std::size_t>(), pool = draws.at("n_pool").get<std::size_t>();
    const bool one_more = old ? name.starts_with("lambada") : draws.at("sampled_k_plus_1").get<bool>();
    PythonRandom random(old ? 42 : 1234);
    Indices order = range(eval);
    if (old) random.shuffle(order);
    std::size_t at = 0;
    for (const Json& document : draws.at("first_docs")) {
        const std::size_t doc = order[at++];
        CHECK(doc == document.at("doc").get<std::size_t>());
        Indices shots = random.sample(pool, one_more ? k + 1 : k);
        if (old && one_more) std::erase(shots, doc);
        shots.resize(k);
        if (!draws.contains("pool")) CHECK(shots == document.at("shots").get<Indices>());
    }
}

}  // namespace

TEST_CASE("Python's random numbers, shuffles and samples come out the same", "[bare]") {
    const auto vectors = golden::read("python_random.json");
    if (!vectors) DEFT_SKIP("no golden vectors: set DEFT_DATA_MIRROR");
    for (const auto& [seed, groups] : vectors->at("generators").items())
        for (const auto& [name, expected] : groups.items()) check_vector(std::stoull(seed), name, expected);
    for (const auto& [name, draws] : vectors->at("draws").items()) check_draws(name, draws);
}

TEST_CASE("a sample holds different indices and never more than there are", "[bare]") {
    PythonRandom random(99);
    for (const std::size_t n : {5, 20, 21, 22, 85, 86, 300}) {
        Indices drawn = random.sample(n, 5);
        std::sort(drawn.begin(), drawn.end());
        CHECK(std::adjacent_find(drawn.begin(), drawn.end()) == drawn.end());
        CHECK(drawn.back() < n);
    }
    CHECK(random.sample(0, 0).empty());
    CHECK_THROWS_WITH(random.sample(3, 4), ContainsSubstring("4 from 3"));
}

TEST_CASE("a seed above 32 bits is two words of the key", "[bare]") {
    // Python: random.Random(2**32 + 5).getrandbits(32)
    CHECK(PythonRandom((std::uint64_t{1} << 32) + 5).getrandbits(32) == 675479763u);
}
