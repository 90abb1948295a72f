// Defects of DeepSpeed's data-efficiency library, each as a test that would catch it here. Those that another file
// tests are tagged there, so that `test_engine "[reference-defect]"` runs all:
//   resuming replays or loses draws (threads 8405, 8406, 8425)   composition_test.cpp
//   a permutation is known only to files on disk                 sampler_test.cpp
//   what is prefetched takes a later step's difficulty           sampler_test.cpp
//   an earlier analysis' files are taken for this one's          ../experiments/difficulty_test.cpp
//   ids count a sample's fields (8505)                           analyzer_test.cpp
//   a metric's number type is asserted, not converted (5108)     analyzer_test.cpp
//   only some workers: an index out of range                     analyzer_test.cpp
//   "reordered by length" reorders nothing                       metric_test.cpp
//   reshaping loses the tail's tokens                            composition_test.cpp
//   every rank drops the same tokens                             random_ltd_test.cpp
//   a step more than the budget has                              ../experiments/config_test.cpp
//   a batch prints itself                                        ../tree/prints_test.cpp

#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "engine/data_efficiency/sampling/sampler.h"
#include "tests/catch.h"

using namespace deft::engine;

namespace {

constexpr const char* kTag = "[reference-defect]";

Sampler defect_sampler(std::span<const SampleCurriculum> metrics, std::int64_t batch, std::int64_t steps) {
    return Sampler(7, admit(metrics, steps), steps, [=](std::int64_t step) { return step * batch; });
}

}  // namespace

TEST_CASE("a pool smaller than a batch fills every batch, each sample as often as the others (thread 8520)", kTag) {
    // Two samples are admitted until step 9, then a third.
    const SampleCurriculum metric{{1, 2, 1, 10, 1}, false, index_of_values({1, 2, 1}), "length"};
    const std::int64_t batch = 16;
    const Sampler sampler = defect_sampler({&metric, 1}, batch, 40);
    std::map<std::int64_t, int> early;
    for (std::int64_t draw = 0; draw < 9 * batch; ++draw) ++early[sampler.sample_at(draw)];
    CHECK((early == std::map<std::int64_t, int>{{0, 72}, {2, 72}}));
    // Among 20 steps that are over half of the last phase each takes about a third.
    std::map<std::int64_t, int> late;
    for (std::int64_t draw = 20 * batch; draw < 40 * batch; ++draw) ++late[sampler.sample_at(draw)];
    for (const auto& [sample, count] : late) CHECK(std::abs(count - 320 / 3) <= 20);
    CHECK(late.size() == 3);
}

TEST_CASE("the last hundredth's remainder is admitted once while another metric still grows", kTag) {
    // 1,037 samples: 37 more than a hundred equal parts. The percentage is at its end at step 10, the value at step 60.
    std::mt19937 random(3);
    std::vector<std::int64_t> rarity, length;
    for (int i = 0; i < 1037; ++i) {
        rarity.push_back(static_cast<std::int64_t>(random() % 400));
        length.push_back(static_cast<std::int64_t>(random() % 60));
    }
    const SampleCurriculum metrics[] = {{{1, 100, 1, 10, 1}, true, index_of_values(rarity), "rarity"},
                                        {{5, 59, 1, 60, 1}, false, index_of_values(length), "length"}};
    const Admission admission = admit(metrics, 100);
    std::set<std::int64_t> members;
    for (std::int64_t i = 0; i < admission.member.count; ++i) members.insert(admission.member[i]);
    CHECK(admission.member.count == 1037);
    CHECK(members.size() == 1037);
    CHECK(admission.phases.back().admitted == 1037);
}

TEST_CASE("a step at which one metric admits no new sample keeps the admitted ones", kTag) {
    // The first grows through values that no sample has; only the second admits newcomers between steps 1 and 8.
    const SampleCurriculum metrics[] = {{{0, 100, 1, 10, 1}, false, index_of_values({0, 0, 100, 0}), "gap"},
                                        {{0, 3, 1, 6, 1}, false, index_of_values({0, 1, 0, 3}), "even"}};
    const Sampler sampler = defect_sampler(metrics, 1, 20);
    std::vector<std::int64_t> pools;
    for (const std::int64_t step : {0, 1, 2, 4, 5, 8, 9, 19}) pools.push_back(sampler.pool_size(step));
    // Value at step s: gap 10 (s + 1), even floor((s + 1) / 2).
    CHECK(pools == std::vector<std::int64_t>{1, 2, 2, 2, 3, 3, 4, 4});
}
