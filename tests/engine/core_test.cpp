// Tensor views, the planned arena.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/core/arena.h"
#include "engine/core/ops.h"
#include "engine/core/workspace.h"
#include "tests/catch.h"
#include "tests/engine/tiny.h"
#include "tests/refusal.h"

using namespace deft::engine;

TEST_CASE("views and slices of a tensor") {
    float data[24];
    const Tensor tensor = make_tensor(data, DType::f32, {2, 3, 4});
    CHECK(tensor.numel() == 24);
    CHECK(tensor.rows() == 6);
    CHECK(tensor.columns() == 4);
    CHECK(tensor.slice(1).as<float>() == data + 12);
    CHECK(tensor.slice(1).shape_text() == "(3, 4) f32");
    CHECK(tensor.view({2, 5}).numel() == 10);
    CHECK_THROWS_AS(tensor.view({5, 5}), std::logic_error);
    CHECK_THROWS_AS(tensor.as<double>(), std::logic_error);
    CHECK(Tensor{}.as<float>() == nullptr);
}

TEST_CASE("an arena plans in one pass and hands out memory in the next") {
    Arena arena;
    const auto plan = [](Arena& a) {
        const Tensor first = a.add(Region::parameters, "first", DType::f32, {3, 5});
        const Tensor second = a.add(Region::parameters, "second", DType::f64, {2});
        const Tensor other = a.add(Region::activations, "other", DType::i32, {7});
        a.reserve_workspace(100);
        return std::vector<Tensor>{first, second, other};
    };
    const std::vector<Tensor> tensors = plan_and_commit(arena, plan);
    CHECK(arena.region_bytes(Region::parameters) == 64 + 128);  // 15 and 2 elements, each rounded up to 16
    CHECK(arena.region_bytes(Region::workspace) == 128);
    CHECK(arena.total_bytes() == 3 * 256);  // each region at a multiple of 256
    for (const Tensor& tensor : tensors) CHECK(reinterpret_cast<std::uintptr_t>(tensor.data) % 64 == 0);
    CHECK(tensors[0].as<float>()[14] == 0);
    CHECK(static_cast<char*>(tensors[1].data) - static_cast<char*>(tensors[0].data) == 64);
    CHECK_THAT(table_of(arena.planned()), ContainsSubstring("(3, 5) f32"));
}

TEST_CASE("a second pass that differs is refused") {
    Arena arena;
    arena.add(Region::parameters, "a", DType::f32, {3});
    arena.commit();
    CHECK_THROWS_AS(arena.add(Region::parameters, "b", DType::f32, {3}), std::logic_error);
}

TEST_CASE("a region's front buffers lie before its back ones, and shared buffers are as large as the largest") {
    Arena arena;
    struct Planned {
        Tensor back, front, other, small, large;
    };
    const Planned p = plan_and_commit(arena, [](Arena& a) {
        Planned planned;
        planned.back = a.add(Region::parameters, "back", DType::f32, {3}, Side::back);
        planned.front = a.add(Region::parameters, "front", DType::f32, {17});
        planned.small = a.add_shared("turns", DType::f32, {5});
        planned.other = a.add(Region::activations, "other", DType::f32, {2});
        planned.large = a.add_shared("turns", DType::f32, {2, 40});
        return planned;
    });
    CHECK(p.back.as<float>() - p.front.as<float>() == 32);  // 17 elements, rounded up to sixteens
    CHECK(arena.flat(Region::parameters, DType::f32).numel() == 32 + 16);
    CHECK(arena.flat(Region::parameters, DType::f32, Side::front).data == p.front.data);
    CHECK(arena.flat(Region::parameters, DType::f32, Side::front).numel() == 32);
    CHECK(arena.flat(Region::parameters, DType::f32, Side::back).data == p.back.data);
    CHECK(arena.flat(Region::parameters, DType::f32, Side::back).numel() == 16);
    CHECK(p.small.data == p.large.data);
    CHECK(p.small.numel() == 5);
    CHECK(p.large.shape_text() == "(2, 40) f32");
    CHECK(arena.region_bytes(Region::activations) == 4 * (80 + 16));
    // The other begins where the largest of the shared ones ends.
    CHECK(p.other.as<float>() - p.small.as<float>() == 80);
    CHECK_THROWS_AS(arena.add_shared("turns", DType::f32, {81}), std::logic_error);
    CHECK_THROWS_AS(arena.add_shared("unknown", DType::f32, {1}), std::logic_error);
}

TEST_CASE("a plan beyond the machine's memory says what to lower") {
    Arena arena;
    arena.add(Region::activations, "huge", DType::f32, {std::int64_t{1} << 50});
    CHECK_THAT(deft::test::refusal(deft::ErrorKind::memory, [&] { arena.commit(); }),
               ContainsSubstring("train.micro_batch_size"));
}

TEST_CASE("a plan for a GPU has the GPU's workspace, in a build without CUDA too") {
    // GPT-2 124M, 16 samples of 1024: the head's logits need most. 576 MiB hold 3001 rows of 50304 floats (50257
    // rounded up to 128s), so 2944 in whole 128s; beside them rows that were gathered for having a target, and the list
    // of these.
    constexpr std::int64_t bytes = std::int64_t{2944} * (50304 + 768) * 4 + 16 * 1024 * 4;
    const Backend gpu{Device::cuda, DType::bf16, 1};
    CHECK(head_workspace(gpu, 16 * 1024, 768, 50257) == bytes);
    Arena arena(Device::cuda);
    const Transformer model(arena, gpt2_config(12, 768, 12, 1024, 50257), gpu, 16);
    CHECK(arena.region_bytes(Region::workspace) == bytes);
}

TEST_CASE("SGD plans one moment of each weight, and its decay is of decayed parameters alone") {
    const TokenCorpus corpus = tiny_corpus(500, 31);
    TrainerConfig config = tiny_config();
    const std::int64_t two = Trainer(config, corpus, 1).arena().region_bytes(Region::optimizer);
    config.optimizer = {.kind = OptimizerKind::sgd, .momentum = 0.5, .weight_decay = 0.25};
    config.learning_rate.max = 0.5;
    Trainer trainer(config, corpus, 1);
    CHECK(2 * trainer.arena().region_bytes(Region::optimizer) == two);
    const ParameterTable& table = trainer.model().parameters();
    for (const auto& group : table.groups()) CHECK((group.m && !group.v));
    // m = g + decay w, then w - lr m; and from the second step on m = momentum m + g + decay w.
    for (int step = 0; step < 2; ++step) {
        trainer.accumulate_gradients();
        std::vector<std::vector<float>> weights, moments;
        for (const Parameter& p : table.all()) {
            CHECK(!table.second_moment(p));
            weights.push_back(values<float>(p.value));
            moments.push_back(values<float>(table.first_moment(p)));
        }
        trainer.update();
        for (std::size_t i = 0; i < table.all().size(); ++i) {
            const Parameter& p = table[i];
            INFO(p.name);
            const double decay = is_decayed(p.kind) ? 0.25 : 0;
            double apart = 0;
            for (std::size_t k = 0; k < weights[i].size(); ++k) {
                const double w = weights[i][k], m = 0.5 * moments[i][k] + p.grad.as<float>()[k] + decay * w;
                apart = std::max({apart, std::abs(table.first_moment(p).as<float>()[k] - m),
                                  std::abs(p.value.as<float>()[k] - (w - 0.5 * m))});
            }
            CHECK(apart < 1e-6);
        }
    }
}

TEST_CASE("decayed and other parameters are two flat groups that cover all") {
    const TokenCorpus corpus = tiny_corpus(500, 31);
    Trainer trainer(tiny_config(), corpus, 1);
    ParameterTable& table = trainer.model().parameters();
    const auto groups = table.groups();
    REQUIRE(groups.size() == 2);
    CHECK(groups[0].value.numel() + groups[1].value.numel() == table.flat_gradients().numel());
    for (const Parameter& p : table.all()) {
        const ParameterTable::Group& group = groups[is_decayed(p.kind) ? 0 : 1];
        const auto offset = p.value.as<float>() - group.value.as<float>();
        CHECK(offset >= 0);
        CHECK(offset + p.value.numel() <= group.value.numel());
        CHECK(p.grad.as<float>() - group.grad.as<float>() == offset);
        CHECK(table.first_moment(p).as<float>() - group.m.as<float>() == offset);
        CHECK(table.second_moment(p).as<float>() - group.v.as<float>() == offset);
    }
    CHECK(table.count() == model_size(trainer.config().model).parameters);
}
