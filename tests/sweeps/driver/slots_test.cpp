// Slots: what the words mean, and which trials fit.

#include "sweeps/driver/slots.h"

#include <cstdlib>

#include "base/files.h"
#include "base/usable_machine.h"
#include "experiments/projection.h"
#include "sweeps/spec/spec.h"
#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::sweeps;

namespace {

const std::vector<engine::Gpu> kTwo = {{"Small", "GPU-a", std::int64_t{8} << 30},
                                       {"Large", "GPU-b", std::int64_t{80} << 30}};

std::vector<Slot> slots(const std::string& text, const std::vector<engine::Gpu>& gpus = kTwo) {
    return make_slots(parse_slots(text), 1, gpus, "none is here");
}

SlotRequest request_of(const std::string& text, int ranks) {
    SlotRequest request = parse_slots(text);
    request.ranks = ranks;
    return request;
}

std::vector<Slot> of_ranks(const std::string& text, int ranks, int threads, const std::vector<engine::Gpu>& gpus = {}) {
    return make_slots(request_of(text, ranks), threads, gpus, "none is here");
}

// "a b": the cards of a slot, by their last letters.
std::string cards(const Slot& slot) {
    std::string text;
    for (const std::string& uuid : slot.gpu_uuids) text += (text.empty() ? "" : " ") + uuid.substr(4);
    return text;
}

std::vector<engine::Gpu> equal_gpus(int count) {
    std::vector<engine::Gpu> gpus;
    for (int i = 0; i < count; ++i)
        gpus.push_back({"NVIDIA H200", std::string("GPU-") + static_cast<char>('a' + i), std::int64_t{8} << 30});
    return gpus;
}

Trial trial_of(std::int64_t width, std::int64_t batch) {
    Trial trial;
    trial.recipe = "baseline";
    trial.config.model.width = width;
    trial.config.model.heads = width / 64;
    trial.config.data.vocab = 257;
    trial.config.train.batch_size = trial.config.train.micro_batch_size = batch;
    trial.config.train.budget_tokens = 1'000'000'000;
    return trial;
}

}  // namespace

TEST_CASE("auto is a slot a GPU, and without one a slot a core") {
    const auto two = slots("auto");
    REQUIRE(two.size() == 2);
    CHECK(two[0].device == engine::Device::cuda);
    CHECK(cards(two[0]) == "a");
    CHECK(cards(two[1]) == "b");
    const auto none = slots("auto", {});
    CHECK(none.size() == static_cast<std::size_t>(usable_cores()));
    CHECK(none[0].device == engine::Device::cpu);
}

TEST_CASE("GPUs are counted, and shared") {
    CHECK(slots("gpu").size() == 2);
    CHECK(slots("gpu:1").size() == 1);
    CHECK(slots("cpu:3").size() == 3);
    const auto shared = slots("gpu:2/3");
    REQUIRE(shared.size() == 6);
    CHECK(shared[0].gpu_uuids != shared[1].gpu_uuids);  // each card gets one before any gets two
    CHECK(shared[0].gpu_uuids == shared[2].gpu_uuids);
    // A third of the card each, less what the driver takes beside a trial's own buffers.
    CHECK(shared[0].memory_bytes == (std::int64_t{8} << 30) / 3 - (std::int64_t{768} << 20));
    CHECK(shared[1].memory_bytes == (std::int64_t{80} << 30) / 3 - (std::int64_t{768} << 20));
    CHECK(slots("gpu:1")[0].memory_bytes == (std::int64_t{8} << 30) - (std::int64_t{768} << 20));
    // A trial pays for its share of the card, whatever its threads.
    CHECK(devices_a_trial(shared[0], 4) == Approx(1.0 / 3));
    CHECK(shape_of(shared[0], 4).device == "cuda");
    CHECK(shape_of(shared[0], 4).devices == 1);
    CHECK(shape_of(shared[0], 4).trials_per_device == 3);
    CHECK(devices_a_trial(slots("cpu:1")[0], 4) == 4);
    CHECK(shape_of(slots("cpu:1")[0], 4).devices == 4);
    CHECK_THROWS_WITH(slots("gpu:3"), ContainsSubstring("need 3 GPUs, and 2 can be used here"));
    CHECK_THROWS_WITH(slots("gpu", {}), ContainsSubstring("none is here"));
    CHECK(describe_slots(shared, 1) == "6 workers on Small, 3 a card");
    CHECK(describe_slots(slots("cpu:1"), 2) == "1 worker of 2 threads");
}

TEST_CASE("a slot of several ranks on the CPU takes the cores of all") {
    const auto cores = static_cast<std::size_t>(usable_cores());
    CHECK(of_ranks("auto", 2, 1).size() == std::max<std::size_t>(1, cores / 2));
    CHECK(of_ranks("auto", 2, 3).size() == std::max<std::size_t>(1, cores / 6));
    const auto two = of_ranks("cpu:2", 3, 4);
    REQUIRE(two.size() == 2);
    CHECK(two[1].ranks == 3);
    CHECK(shape_of(two[0], 4).devices == 12);
    CHECK(shape_of(two[0], 4).ranks == 3);
    CHECK(devices_a_trial(two[0], 4) == 12);
    CHECK(describe_slots(two, 4) == "2 workers of 3 ranks of 4 threads");
    CHECK(of_ranks("cpu:1", 2, 1, kTwo)[0].gpu_uuids.empty());
}

TEST_CASE("a slot of several ranks on GPUs has a card for each, and pays for all of them") {
    const auto one = of_ranks("auto", 2, 4, equal_gpus(2));
    REQUIRE(one.size() == 1);
    CHECK(cards(one[0]) == "a b");
    CHECK(one[0].device == engine::Device::cuda);
    CHECK(one[0].ranks == 2);
    CHECK(shape_of(one[0], 4).device == "cuda");
    CHECK(shape_of(one[0], 4).devices == 2);
    CHECK(shape_of(one[0], 4).ranks == 2);
    CHECK(devices_a_trial(one[0], 4) == 2);
    CHECK(describe_slots(one, 4) == "1 worker of 2 ranks on NVIDIA H200");

    const auto shared = of_ranks("gpu:4/2", 2, 1, equal_gpus(5));
    REQUIRE(shared.size() == 4);
    CHECK(cards(shared[0]) == "a b");  // each card gets one before any gets two
    CHECK(cards(shared[1]) == "c d");
    CHECK(cards(shared[2]) == "a b");
    CHECK(cards(shared[3]) == "c d");
    CHECK(shared[0].memory_bytes == (std::int64_t{4} << 30) - (std::int64_t{768} << 20));
    CHECK(shape_of(shared[0], 1).trials_per_device == 2);
    CHECK(devices_a_trial(shared[0], 1) == 1);
    CHECK(describe_slots(shared, 1) == "4 workers of 2 ranks on NVIDIA H200, 2 a card");

    // No rank may plan more than the smallest card has.
    CHECK(of_ranks("gpu", 2, 1, kTwo)[0].memory_bytes == slots("gpu:1")[0].memory_bytes);
    const Slot reversed = of_ranks("gpu", 2, 1, {kTwo[1], kTwo[0]})[0];
    CHECK(cards(reversed) == "b a");
    CHECK(reversed.gpu_name == "Small");
    CHECK(reversed.memory_bytes == slots("gpu:1")[0].memory_bytes);
}

TEST_CASE("cards that slots of several ranks leave over are reported, and unused") {
    const auto slots_of = [](const std::string& text, int ranks, int visible) {
        return of_ranks(text, ranks, 1, equal_gpus(visible)).size();
    };
    CHECK(slots_of("auto", 2, 5) == 2);
    CHECK(unused_gpus(request_of("auto", 2), 5) == "1 of 5 GPUs stays unused: a trial of 2 ranks takes 2");
    CHECK(slots_of("gpu:5/3", 3, 6) == 3);
    CHECK(unused_gpus(request_of("gpu:5/3", 3), 6) == "2 of 5 GPUs stay unused: a trial of 3 ranks takes 3");
    CHECK(unused_gpus(request_of("gpu", 2), 4).empty());
    CHECK(unused_gpus(request_of("auto", 1), 3).empty());
    CHECK(unused_gpus(request_of("auto", 2), 0).empty());
    CHECK(unused_gpus(request_of("cpu:1", 2), 3).empty());
}

TEST_CASE("a card takes as many trials as its memory, the cores and the trials allow") {
    constexpr std::int64_t kContext = std::int64_t{768} << 20;
    const std::vector<Trial> trials(9, trial_of(128, 8));
    const std::int64_t scored = planned_in(slots("gpu:1")[0], trials[0], results_db::Work::score).largest;
    const std::int64_t largest = std::max(planned_in(slots("gpu:1")[0], trials[0]).largest, scored);
    const auto on_cards = [&](std::vector<std::int64_t> memory, int cores, std::size_t count) {
        std::vector<engine::Gpu> gpus;
        for (const std::int64_t bytes : memory) gpus.push_back({"Card", "GPU-a", bytes});
        return trials_on_card({trials.begin(), trials.begin() + static_cast<std::ptrdiff_t>(count)}, gpus, cores);
    };
    const std::int64_t three = 3 * (largest + kContext);
    CHECK(on_cards({three}, 64, 9) == 3);
    CHECK(on_cards({three - 1}, 64, 9) == 2);
    CHECK(on_cards({three}, 2, 9) == 2);
    CHECK(on_cards({three, three}, 5, 9) == 2);
    CHECK(on_cards({4 * three, three}, 64, 9) == 3);
    CHECK(on_cards({3 * three}, 64, 5) == 5);
    CHECK(on_cards({3 * three, 3 * three}, 64, 5) == 3);
    CHECK(trials_on_card(trials, {{"Card", "GPU-a", 4 * three}, {"Card", "GPU-b", 4 * three}}, 64, 2) == 9);
    CHECK(on_cards({1}, 64, 9) == 1);  // which the fit of each trial refuses
    // A worker of as many holds the largest.
    CHECK(make_slots(parse_slots("gpu:1/3"), 1, {{"Card", "GPU-a", three}}, "")[0].memory_bytes == largest);
    std::vector<Trial> mixed = {trial_of(128, 8), trial_of(256, 8)};
    CHECK(trials_on_card(mixed, {{"Card", "GPU-a", three}}, 64) < 3);
    mixed.resize(100, trial_of(64, 1));
    CHECK(trials_on_card(mixed, {{"Card", "GPU-a", std::int64_t{1} << 50}}, 4096) == kMostOnCard);
}

TEST_CASE("a card's share is a number, or left to the memory plan") {
    CHECK(parse_slots("gpu:2/auto").per_gpu == 0);
    CHECK(parse_slots("gpu:2/auto").count == 2);
    for (const char* wrong : {"gpu:1/", "gpu:1/0", "gpu:auto", "gpu:1/automatic", "cpu:1/auto", "gpu/auto"})
        CHECK_THROWS_WITH(parse_slots(wrong), ContainsSubstring("gpu:1/auto for as many on one"));
    SlotRequest queued = parse_slots("gpu:1/auto");
    queued.is_queued = true;
    CHECK_THROWS_WITH(make_slots(queued, 1, {}, ""), ContainsSubstring("cannot share one"));
}

TEST_CASE("too few cards for the ranks of a trial are refused with what to do") {
    const auto refused = [](const std::string& text, int ranks, int visible) {
        return test::refusal(ErrorKind::missing, [&] { of_ranks(text, ranks, 1, equal_gpus(visible)); });
    };
    CHECK_THAT(refused("auto", 2, 1), ContainsSubstring("2 ranks of a trial need a GPU each, and slots auto find 1") &&
                                          ContainsSubstring("use ranks = 1, or train on the CPU: slots = \"cpu:1\""));
    CHECK_THAT(refused("gpu:2", 3, 4),
               ContainsSubstring("3 ranks of a trial need a GPU each, and slots gpu:2 name 2") &&
                   ContainsSubstring("use ranks = 2, more GPUs, or train on the CPU"));
    CHECK_THAT(refused("gpu:3", 3, 2), ContainsSubstring("need 3 GPUs, and 2 can be used here"));
}

TEST_CASE("of several ranks each has to fit its card") {
    Trial zero = trial_of(64, 8), plain = zero;
    zero.config.train.zero = 1;
    auto two = of_ranks("gpu", 2, 1, equal_gpus(2));
    two[0].memory_bytes = planned_in(two[0], zero).largest;
    CHECK(fits(zero, two[0]));
    --two[0].memory_bytes;
    CHECK(!fits(zero, two[0]));
    ++two[0].memory_bytes;
    CHECK(!fits(plain, two[0]));
    CHECK(fits(plain, two[0], results_db::Work::score));
    CHECK_THROWS_WITH(require_fit(plain, two), ContainsSubstring("GiB on a rank, and the largest worker has"));
    Slot on_cpu;
    on_cpu.ranks = 3;
    CHECK(planned_in(on_cpu, plain).all == 3 * experiments::planned_bytes(plain.config, engine::Device::cpu).all);
    plain.config.train.expert_ranks = 2;
    CHECK_THROWS_WITH(planned_in(on_cpu, plain),
                      ContainsSubstring("recipe baseline: train.expert_ranks = 2 does not divide 3 ranks"));
}

TEST_CASE("ranks on nodes take the cores and the cards of their share of each") {
    SlotRequest request = request_of("auto", 4);
    request.ranks_per_node = 2;
    request.node_cores = {8, 8, 8};
    const auto on_cores = make_slots(request, 2, {}, "none is here");
    CHECK(on_cores.size() == 3);
    CHECK(on_cores[0].nodes == 2);
    CHECK(shape_of(on_cores[0], 2).devices == 8);
    CHECK(describe_slots(on_cores, 2) == "3 workers of 4 ranks (2 on each of 2 nodes) of 2 threads");
    const auto on_cards = make_slots(request, 1, equal_gpus(4), "");
    CHECK(on_cards.size() == 3);
    CHECK(on_cards[0].ranks == 4);
    CHECK(on_cards[0].nodes == 2);
    CHECK(on_cards[0].gpu_uuids.empty());
    CHECK_THAT(test::refusal(ErrorKind::missing, [&] { make_slots(request, 1, equal_gpus(1), ""); }),
               ContainsSubstring("2 ranks of a trial need a GPU each, and a node has 1") &&
                   ContainsSubstring("use ranks_per_node = 1"));
    CHECK_THAT(
        test::refusal(ErrorKind::missing, [&] { make_slots(request, 5, {}, ""); }),
        ContainsSubstring("2 ranks of 5 threads take 10 cores on each of 2 nodes; nodes of this job with as many: 0"));
    request.is_queued = true;
    CHECK(make_slots(request, 1, {}, "").front().nodes == 2);
}

TEST_CASE("ranks share the cores that a trial would have") {
    const std::vector<Trial> trials(4, trial_of(64, 8));
    const std::int64_t bytes = experiments::planned_bytes(trials[0].config, engine::Device::cpu).all;
    CHECK(default_threads(trials, 8, 1000 * bytes, 2) == 1);  // four at once
    CHECK(default_threads({trials[0]}, 8, 1000 * bytes, 2) == 4);
    CHECK(default_threads({trials[0]}, 2, 1000 * bytes, 2) == 1);
    CHECK(default_threads({trials[0]}, 2, 1000 * bytes, 4) == 1);
    CHECK(default_threads(trials, 8, 16 * bytes, 2) == 1);
    CHECK(default_threads(trials, 8, 16 * bytes - 2, 2) == 4);
    // Two nodes; a trial takes both.
    CHECK(default_threads({trials[0]}, 8, 1000 * bytes, 2, 2, 2) == 8);
    CHECK(default_threads(trials, 4, 1000 * bytes, 2, 2, 2) == 1);
    // Moments that ranks share leave room for all of them.
    std::vector<Trial> zero = trials;
    for (Trial& trial : zero) trial.config.train.zero = 1;
    CHECK(default_threads(zero, 8, 16 * bytes - 2, 2) == 1);
}

TEST_CASE("a trial goes where its buffers fit, and nowhere else") {
    const auto two = slots("gpu");
    const Trial small = trial_of(64, 8), large = trial_of(8192, 8);  // 8192 wide: some 50 GiB of weights and moments
    CHECK(fits(small, two[0]));
    CHECK(!fits(large, two[0]));
    CHECK(fits(large, two[1]));
    CHECK(fits(large, slots("cpu:1")[0]));
    CHECK_THROWS_WITH(require_fit(large, {two[0]}),
                      ContainsSubstring("recipe baseline plans") && ContainsSubstring("train.micro_batch_size"));
}

TEST_CASE("auto plans what fits the worker, and is refused where block does not") {
    Trial chooses = trial_of(256, 32), block = chooses, none = chooses;
    chooses.config.train.recompute = experiments::RecomputeChoice::automatic;
    block.config.train.recompute = experiments::RecomputeChoice::block;
    auto card = slots("gpu:1");
    const std::int64_t least = planned_in(card[0], block).largest, most = planned_in(card[0], none).largest;
    REQUIRE(least < most);
    card[0].memory_bytes = most;
    CHECK(planned_in(card[0], chooses).largest == most);
    CHECK(with_recompute(chooses, card[0], card[0].device).config.train.recompute ==
          experiments::RecomputeChoice::none);
    card[0].memory_bytes = least;
    CHECK(!fits(none, card[0]));
    CHECK(fits(chooses, card[0]));
    CHECK(planned_in(card[0], chooses).largest == least);
    const Trial chosen = with_recompute(chooses, card[0], card[0].device);
    CHECK(chosen.config.train.recompute == experiments::RecomputeChoice::block);
    CHECK(chosen.projection.memory_bytes == least);
    --card[0].memory_bytes;
    CHECK_THROWS_WITH(require_fit(chooses, card),
                      ContainsSubstring("recipe baseline plans") && ContainsSubstring("lower train.micro_batch_size"));
}

TEST_CASE("workers on the CPU share this machine's memory, and others' is not known") {
    constexpr std::int64_t process = std::int64_t{256} << 20;
    const auto three = slots("cpu:3");
    CHECK(three[2].host_bytes == std::max<std::int64_t>(1, usable_memory() / 3 - process));
    CHECK(memory_limit(three[2]) == three[2].host_bytes);
    CHECK(three[2].memory_bytes == 0);  // which limits nothing
    CHECK(of_ranks("cpu:1", 2, 1)[0].host_bytes == std::max<std::int64_t>(1, usable_memory() / 2 - process));
    CHECK(memory_limit(slots("gpu:1")[0]) == slots("gpu:1")[0].memory_bytes);
    SlotRequest request = request_of("cpu:2", 1);
    request.is_queued = true;
    CHECK(memory_limit(make_slots(request, 1, {}, "")[0]) == 0);
    request.is_queued = false;
    request.node_cores = {8, 8};
    CHECK(memory_limit(make_slots(request, 1, {}, "")[0]) == 0);
}

TEST_CASE("threads count the plan that auto will choose") {
    using experiments::RecomputeChoice;
    const auto trials = [](RecomputeChoice choice) {
        std::vector<Trial> four(4, trial_of(256, 192));
        for (Trial& trial : four) trial.config.train.recompute = choice;
        return four;
    };
    // Each of two at once may plan, in 1 GiB, 256 MiB: half of its share, and the rest of it without the process's.
    constexpr std::int64_t memory = std::int64_t{1} << 30;
    REQUIRE(planned_in(Slot{}, trials(RecomputeChoice::none)[0]).all > memory / 4);
    REQUIRE(planned_in(Slot{}, trials(RecomputeChoice::block)[0]).all <= memory / 4);
    CHECK(default_threads(trials(RecomputeChoice::none), 2, memory) == 2);
    CHECK(default_threads(trials(RecomputeChoice::block), 2, memory) == 1);
    CHECK(default_threads(trials(RecomputeChoice::automatic), 2, memory) == 1);
}

TEST_CASE("a dtype that the workers lack is refused with the recipe's name") {
    Trial trial = trial_of(64, 8);
    trial.config.train.dtype = engine::DType::bf16;
    CHECK_THROWS_WITH(require_fit(trial, slots("cpu:1")),
                      ContainsSubstring("recipe baseline: the cpu backend has no bf16"));
}

TEST_CASE("where nobody says how many threads: one each side by side, all where trials are too few or memory is") {
    const std::vector<Trial> small(4, trial_of(64, 8));
    constexpr std::int64_t memory = std::int64_t{16} << 30;
    CHECK(default_threads(small, 2, memory) == 1);
    CHECK(default_threads(small, 4, memory) == 1);
    CHECK(default_threads({small.front()}, 2, memory) == 2);
    std::vector<Trial> mixed = small;
    mixed.push_back(trial_of(8192, 8));             // some 50 GiB
    CHECK(default_threads(mixed, 2, memory) == 2);  // one shape for the whole sweep
    CHECK(default_threads(mixed, 2, 100 * memory) == 1);
    const std::int64_t planned = experiments::planned_bytes(small.front().config, engine::Device::cpu).all;
    CHECK(default_threads(small, 2, 4 * planned) == 1);
    CHECK(default_threads(small, 2, 4 * planned - 1) == 2);
    CHECK(threads_for(3, parse_slots("auto"), small) == 3);
    CHECK(threads_for(0, parse_slots("cpu:1"), {small.front()}) == 1);
    if (engine::usable_gpus().empty()) CHECK(threads_for(0, parse_slots("auto"), {small.front()}) == usable_cores());
}
