// Curricula over samples: the metric, the order, the phases, and the draws.

#include "engine/data_efficiency/sampling/sampler.h"
#include "engine/data_efficiency/sampling/metric.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <span>

#include "base/error.h"
#include "engine/data_efficiency/sampling/value_column.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

using namespace deft::engine;
namespace test = deft::test;

namespace {

std::vector<std::int64_t> random_values(std::int64_t samples, std::uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<std::int64_t> values;
    for (std::int64_t i = 0; i < samples; ++i) values.push_back(static_cast<std::int64_t>(random() % 50));
    return values;
}

DifficultyIndex random_index(std::int64_t samples, std::uint32_t seed) {
    return index_of_values(random_values(samples, seed));
}

SampleCurriculum by_percentile(DifficultyIndex index, std::int64_t duration, double degree = 2) {
    return {{1, 100, 1, duration, degree}, true, std::move(index), "voc"};
}

Admission admit_one(const SampleCurriculum& metric, std::int64_t steps) {
    return admit({&metric, 1}, steps);
}

Sampler sampler_of(std::uint64_t seed, std::int64_t batch, std::span<const SampleCurriculum> metrics,
                   std::int64_t steps) {
    return Sampler(seed, admit(metrics, steps), steps, [=](std::int64_t step) { return step * batch; });
}

Sampler sampler_of(std::uint64_t seed, std::int64_t batch, const SampleCurriculum& metric, std::int64_t steps) {
    return sampler_of(seed, batch, {&metric, 1}, steps);
}

}  // namespace

TEST_CASE("voc is the truncated sum of -ln p over a sample and its last target") {
    // Tokens 0 0 1 0 0 0 1 2 0, seqlen 4: samples 0..4 and 4..8 share token 4. Among their ten tokens: 0 seven times, 1
    // twice, 2 once; 3 never, which counts as once. p = 7/11, 2/11, 1/11.
    const TokenCorpus corpus = corpus_of_tokens({0, 0, 1, 0, 0, 0, 1, 2, 0});
    const std::vector<std::int64_t> rarity = metric_values(packed_samples(corpus, 4, 4), built_in_metric("voc"));
    REQUIRE(rarity.size() == 2);
    CHECK(rarity[0] == static_cast<std::int64_t>(4 * std::log(11.0 / 7) + std::log(11.0 / 2)));  // 1.81 + 1.70 = 3
    CHECK(rarity[0] == 3);
    CHECK(rarity[1] == 5);  // 3 x 0.452 + 1.705 + 2.398 = 5.46
}

TEST_CASE("samples are ordered by value, and by id where values tie") {
    const DifficultyIndex index = index_of_values({5, 1, 5, 0, 1});
    CHECK(std::vector<std::int64_t>(index.order.begin(), index.order.end()) ==
          std::vector<std::int64_t>{3, 1, 4, 0, 2});
}

TEST_CASE("a percentile admits an exact count of samples, a value all up to it") {
    const DifficultyIndex index = random_index(1234, 5);
    const SampleCurriculum curriculum = by_percentile(index, 100, 1);
    const auto phases = admit_one(curriculum, 500).phases;
    // Step s has percentile floor((s + 1) / 100 * 99 + 1), by hand: 1 at s = 0, 2 at s = 1 (2.98), 51 at s = 50
    // (51.49).
    CHECK(phases.front().admitted == 12);  // floor(1234 / 100)
    CHECK(phases[1].admitted == 24);
    CHECK(phases.back().admitted == 1234);
    CHECK(phases.back().first_step == 99);
    for (std::size_t p = 1; p < phases.size(); ++p) CHECK(phases[p].admitted > phases[p - 1].admitted);

    const SampleCurriculum by_value{{10, 40, 1, 60, 1}, false, index, "voc"};
    for (const AdmissionPhase& phase : admit_one(by_value, 500).phases) {
        const std::int64_t most = paced_value(by_value.pacing, phase.first_step + 1);
        CHECK(phase.admitted ==
              std::count_if(index.value.begin(), index.value.end(), [&](auto v) { return v <= most; }));
    }
    CHECK_THROWS_WITH(admit_one({{-5, 40, 1, 60, 1}, false, index, "voc"}, 500), ContainsSubstring("easiest sample"));
}

TEST_CASE("a draw is always of the admitted samples, and every cluster gets its share") {
    const std::uint32_t seed = std::random_device{}();
    INFO("seed " << seed);
    const std::int64_t samples = 700 + seed % 311, steps = 400, batch = 7;
    const SampleCurriculum curriculum = by_percentile(random_index(samples, seed), 150);
    const auto phases = admit_one(curriculum, steps).phases;
    const Sampler sampler = sampler_of(seed, batch, curriculum, steps);
    std::vector<std::int64_t> rank(static_cast<std::size_t>(samples));
    for (std::int64_t r = 0; r < samples; ++r) rank[static_cast<std::size_t>(curriculum.index.order[r])] = r;

    std::vector<double> owed(phases.size(), 0);
    std::vector<std::int64_t> drawn(phases.size(), 0);
    std::size_t p = 0;
    for (std::int64_t draw = 0; draw < steps * batch; ++draw) {
        if (p + 1 < phases.size() && draw / batch >= phases[p + 1].first_step) ++p;
        const std::int64_t r = rank[static_cast<std::size_t>(sampler.sample_at(draw))];
        REQUIRE(r < phases[p].admitted);
        std::size_t cluster = 0;
        while (r >= phases[cluster].admitted) ++cluster;
        ++drawn[cluster];
        for (std::size_t c = 0; c <= p; ++c)
            owed[c] += static_cast<double>(phases[c].admitted - (c == 0 ? 0 : phases[c - 1].admitted)) /
                       static_cast<double>(phases[p].admitted);
    }
    for (std::size_t c = 0; c < phases.size(); ++c) CHECK(std::abs(static_cast<double>(drawn[c]) - owed[c]) < 2);
}

TEST_CASE("within a cluster no sample comes again before all have come") {
    const SampleCurriculum curriculum = by_percentile(random_index(300, 1), 40);
    const std::int64_t steps = 300, batch = 5;
    const Sampler sampler = sampler_of(9, batch, curriculum, steps);
    std::map<std::int64_t, std::int64_t> times;
    for (std::int64_t draw = 0; draw < steps * batch; ++draw) ++times[sampler.sample_at(draw)];
    std::int64_t before = 0;
    for (const AdmissionPhase& phase : admit_one(curriculum, steps).phases) {
        std::int64_t least = std::numeric_limits<std::int64_t>::max(), most = 0;
        for (std::int64_t r = before; r < phase.admitted; ++r) {
            const std::int64_t count = times[curriculum.index.order[r]];
            least = std::min(least, count);
            most = std::max(most, count);
        }
        CHECK(most - least <= 1);
        before = phase.admitted;
    }
}

TEST_CASE("beyond its planned end a cluster goes on where it stopped, over three rounds") {
    // Two clusters of 30 and 70 of 100 samples; the second phase ends, as planned, with an epoch of neither done.
    const SampleCurriculum curriculum{{0, 1, 1, 9, 1},
                                      false,
                                      index_of_values([] {
                                          std::vector<std::int64_t> values(100, 1);
                                          std::fill_n(values.begin(), 30, 0);
                                          return values;
                                      }()),
                                      "half"};
    const std::int64_t steps = 15, batch = 4;
    REQUIRE(admit_one(curriculum, steps).phases.size() == 2);
    const Sampler sampler = sampler_of(4, batch, curriculum, steps);
    const std::int64_t second = admit_one(curriculum, steps).phases[1].first_step * batch,
                       in_round = steps * batch - second;
    REQUIRE(in_round % 10 != 0);
    std::map<std::int64_t, std::int64_t> times;
    for (std::int64_t round = 0, draw = 0; round < 4; ++round) {
        for (; draw < second + (round + 1) * in_round; ++draw) ++times[sampler.sample_at(draw)];
        for (const auto& [first, end] : {std::pair{0, 30}, {30, 100}}) {
            std::int64_t least = std::numeric_limits<std::int64_t>::max(), most = 0;
            for (std::int64_t id = first; id < end; ++id) {
                least = std::min(least, times[id]);
                most = std::max(most, times[id]);
            }
            INFO("round " << round << ", samples " << first << " to " << end);
            CHECK(most - least <= 1);
        }
    }
}

TEST_CASE("beyond its planned end a phase reshuffles its draws each round") {
    const SampleCurriculum curriculum = by_percentile(random_index(300, 1), 10);
    const std::int64_t steps = 40, batch = 6;
    const auto phases = admit_one(curriculum, steps).phases;
    const Sampler sampler = sampler_of(4, batch, curriculum, steps);
    const std::int64_t first = phases.back().first_step * batch, draws = steps * batch - first;
    const auto cluster = [&](std::int64_t draw) {
        std::size_t c = 0;
        while (sampler.at(draw).rank >= phases[c].admitted) ++c;
        return c;
    };
    std::int64_t same = 0;
    for (std::int64_t i = 0; i < draws; ++i) same += cluster(first + i) == cluster(first + draws + i);
    CHECK(same < draws * 3 / 4);  // each cluster has the same share of both; all where the mix is the same
}

TEST_CASE("clusters of equal size have orders of their own") {
    std::vector<std::int64_t> values(200, 0);
    std::fill(values.begin() + 100, values.end(), 1);
    const SampleCurriculum curriculum{{0, 1, 1, 2, 1}, false, index_of_values(values), "half"};
    // Step 0 draws 40 of the first cluster; steps 1 and 2 draw 80 of both, about 40 of the second.
    const std::int64_t steps = 3, batch = 40;
    REQUIRE(admit_one(curriculum, steps).phases.size() == 2);
    const Sampler sampler = sampler_of(4, batch, curriculum, steps);
    std::set<std::int64_t> begins[2];  // places within its cluster, of what each begins with
    for (std::int64_t draw = 0; draw < steps * batch; ++draw) {
        const std::int64_t rank = sampler.at(draw).rank;
        if (draw < batch || rank >= 100) begins[rank / 100].insert(rank % 100);
    }
    REQUIRE(begins[0].size() == 40);
    REQUIRE(begins[1].size() >= 38);
    const auto shared =
        std::count_if(begins[1].begin(), begins[1].end(), [&](auto r) { return begins[0].contains(r); });
    CHECK(shared < 30);  // 16 by chance, standard deviation 2.4
}

TEST_CASE("draws are a pure function: any order, any batch split, and another seed draws otherwise",
          "[reference-defect]") {
    const SampleCurriculum curriculum = by_percentile(random_index(300, 1), 40);
    const Sampler a = sampler_of(9, 6, curriculum, 100), b = sampler_of(9, 6, curriculum, 100),
                  c = sampler_of(10, 6, curriculum, 100);
    std::int64_t different = 0;
    for (std::int64_t draw = 599; draw >= 0; --draw) {
        CHECK(a.sample_at(draw) == b.sample_at(draw));
        different += a.sample_at(draw) != c.sample_at(draw);
    }
    CHECK(different > 300);
}

TEST_CASE("without a curriculum every epoch is a new permutation of all samples") {
    const Sampler sampler(3, 101);
    std::vector<std::int64_t> first, second;
    for (std::int64_t draw = 0; draw < 101; ++draw) {
        first.push_back(sampler.sample_at(draw));
        second.push_back(sampler.sample_at(101 + draw));
    }
    CHECK(std::set<std::int64_t>(first.begin(), first.end()).size() == 101);
    CHECK(std::set<std::int64_t>(second.begin(), second.end()).size() == 101);
    CHECK(first != second);
}

TEST_CASE("with several metrics the pool is the intersection of what each admits") {
    const std::uint32_t seed = std::random_device{}();
    INFO("seed " << seed);
    const std::int64_t samples = 400 + seed % 97, steps = 120, batch = 5;
    const DifficultyIndex first = random_index(samples, seed);
    std::vector<std::int64_t> lengths = random_values(samples, seed + 1);
    lengths[static_cast<std::size_t>(first.order[0])] =
        0;  // so that some sample is easy enough for both from the start
    const SampleCurriculum metrics[] = {by_percentile(first, 60),
                                        {{3, 49, 1, 90, 1}, false, index_of_values(lengths), "length"}};
    const Admission admission = admit(metrics, steps);
    const Sampler sampler = sampler_of(seed, batch, metrics, steps);

    std::vector<std::int64_t> rank(static_cast<std::size_t>(samples));  // under the first metric
    for (std::int64_t r = 0; r < samples; ++r) rank[static_cast<std::size_t>(metrics[0].index.order[r])] = r;
    std::set<std::int64_t> drawn;
    for (std::int64_t step = 0; step < steps; ++step) {
        const std::int64_t easiest =
            std::max<std::int64_t>(1, samples * paced_value(metrics[0].pacing, step + 1) / 100);
        const std::int64_t longest = paced_value(metrics[1].pacing, step + 1);
        std::int64_t admitted = 0;
        for (std::int64_t id = 0; id < samples; ++id)
            admitted += rank[static_cast<std::size_t>(id)] < easiest && metrics[1].index.value[id] <= longest;
        REQUIRE(sampler.pool_size(step * batch) == admitted);
        for (std::int64_t i = 0; i < batch; ++i) {
            const std::int64_t id = sampler.sample_at(step * batch + i);
            REQUIRE(rank[static_cast<std::size_t>(id)] < easiest);
            REQUIRE(metrics[1].index.value[id] <= longest);
            drawn.insert(id);
        }
    }
    CHECK(admission.phases.back().admitted == samples);
    CHECK(std::set<std::int64_t>(admission.member.begin(), admission.member.end()).size() ==
          static_cast<std::size_t>(samples));
    // 600 draws of under 500 samples, without replacement inside a cluster: the easy ones first, most of the rest.
    CHECK(drawn.size() > static_cast<std::size_t>(samples * 2 / 3));
}

TEST_CASE("samples beyond the last difficulty are never drawn") {
    const SampleCurriculum metrics[] = {{{10, 20, 1, 30, 1}, false, random_index(300, 2), "a"},
                                        {{5, 30, 1, 10, 1}, false, random_index(300, 3), "b"}};
    const Sampler sampler = sampler_of(1, 4, metrics, 200);
    CHECK(sampler.samples() < 300);
    for (std::int64_t draw = 0; draw < 800; ++draw) {
        const std::int64_t id = sampler.sample_at(draw);
        CHECK(metrics[0].index.value[id] <= 20);
        CHECK(metrics[1].index.value[id] <= 30);
    }
}

TEST_CASE("a curriculum that cannot order or admit is refused") {
    const DifficultyIndex constant = index_of_values(std::vector<std::int64_t>(50, 7));
    CHECK_THROWS_WITH(admit_one(by_percentile(constant, 10), 100), ContainsSubstring("orders nothing"));
    const test::TemporaryFolder folder;
    test::write_text(folder / "same.csv", "0.5\n0.5\n0.5\n");
    CHECK_THROWS_WITH(admit_one(by_percentile(difficulty_of_column(folder / "same.csv", 3), 10), 100),
                      ContainsSubstring("every sample has difficulty 0.5 under voc"));
    // One sample is easy for each, none for both.
    const SampleCurriculum apart[] = {{{0, 9, 1, 10, 1}, false, index_of_values({0, 9, 9}), "a"},
                                      {{0, 9, 1, 10, 1}, false, index_of_values({9, 0, 9}), "b"}};
    CHECK_THROWS_WITH(admit(apart, 100), ContainsSubstring("none is easy enough for all of a, b"));
    const SampleCurriculum unequal[] = {by_percentile(random_index(30, 1), 10), by_percentile(random_index(31, 1), 10)};
    CHECK_THROWS_WITH(admit(unequal, 100), ContainsSubstring("analyse the corpus again"));
}

TEST_CASE("draws are uniform over the pool") {
    const std::uint32_t seed = std::random_device{}();
    INFO("seed " << seed);
    const std::int64_t samples = 200, seeds = 20'000, batch = 32;
    const SampleCurriculum metric = by_percentile(random_index(samples, seed), 20);
    std::vector<double> early(static_cast<std::size_t>(samples), 0), late = early;
    for (std::int64_t s = 0; s < seeds; ++s) {
        const Sampler sampler = sampler_of(seed + static_cast<std::uint64_t>(s), batch, metric, 60);
        // At step 10 the pool is floor(sqrt(11 / 20) * 99 + 1) = 74% of the samples; at step 45 all.
        ++early[static_cast<std::size_t>(sampler.at(10 * batch + s % batch).rank)];
        ++late[static_cast<std::size_t>(sampler.at(45 * batch + s % batch).rank)];
    }
    const auto chi_square = [&](const std::vector<double>& counts, std::int64_t pool) {
        const double expected = static_cast<double>(seeds) / static_cast<double>(pool);
        double sum = 0;
        for (std::int64_t i = 0; i < pool; ++i)
            sum += std::pow(counts[static_cast<std::size_t>(i)] - expected, 2) / expected;
        return sum;
    };
    // Degrees of freedom plus five standard deviations of that distribution.
    const auto limit = [](double degrees) { return degrees + 5 * std::sqrt(2 * degrees); };
    CHECK(std::accumulate(early.begin() + 148, early.end(), 0.0) == 0);
    CHECK(chi_square(early, 148) < limit(147));
    CHECK(chi_square(late, 200) < limit(199));
}
