// Recorded steps of engine/core/step_graphs.h: the same bits as steps of single launches, and no argument that a later
// step would need otherwise.

#include <map>
#include <optional>

#include "base/error.h"
#include "engine/core/step_graphs.h"
#include "kernels/cuda/emulator/library_gemm.h"
#include "kernels/cuda/emulator/stream.h"
#include "kernels/cuda/graph.h"
#include "tests/catch.h"
#include "tests/cuda/short_steps.h"
#include "tests/engine/bert_corpus.h"
#include "tests/engine/small_vit.h"

using namespace deft;
using namespace deft::engine;
namespace emulator = deft::kernels::cuda::emulator;

namespace {

constexpr Backend kGpu{Device::cuda, DType::bf16, 1};

struct Case {
    const char* name;
    TrainerConfig config;
    TrainingData data;
    int steps;
    std::int64_t least_replayed = 6;
};

ExpertsConfig drawn_experts() {
    return {.count = 3,
            .top = 1,
            .capacity_factor = 0.5,
            .min_capacity = 1,
            .jitter = 0.01,
            .sampled_noise = true,
            .aux_weight = 0.3};
}

// Lengths and kept tokens that grow, a last micro-batch that is smaller, a warm-up, random draws in every part.
std::vector<Case> cases() {
    TrainerConfig curriculum = short_steps();
    curriculum.learning_rate = {1e-2, 1e-4, 400, 4'000, Decay::cosine};
    TrainerConfig experts = curriculum;
    experts.model.blocks[1].experts = experts.model.blocks[3].experts = drawn_experts();
    TrainerConfig dropout = short_steps();
    dropout.model = model_of(NormKind::layer, NormPlacement::post, PositionsOf::learned, Activation::gelu_erf, 1, 0.2);
    dropout.model.class_head.reset();
    dropout.optimizer.kind = OptimizerKind::sgd;
    TrainerConfig bypass = tiny_config(4, 11, 3);
    bypass.techniques.dropping = bypass_on({1, 2}, Pacing{5, 11, 1, 6, 1});
    TrainerConfig bert = short_steps();
    bert.model = small_bert();
    bert.model.class_head = ClassHeadConfig{.pooler = true};
    TrainerConfig padded = bert;
    padded.packs_samples = false;
    for (TrainerConfig* config : {&dropout, &bert, &padded}) {
        config->model.blocks.resize(4, config->model.blocks[0]);
        config->model.max_seqlen = 11;
        config->model.vocab = 31;
    }
    const TokenCorpus corpus = tiny_corpus(900, 31);
    return {{"curriculum and random-LTD", curriculum, corpus, 14},
            {"experts", experts, corpus, 8},
            {"dropout and SGD", dropout, corpus, 8},
            {"token bypass", bypass, corpus, 8},
            {"BERT, packed", bert, test::small_samples(11), 8, 3},
            {"BERT, padded", padded, test::small_samples(11), 8}};
}

struct Run {
    std::vector<double> measured;  // loss, gradient norm and rate of each step
    std::vector<float> weights;
    StepGraphs::Counts counts;
    std::string refusal;
};

Run train(const Case& trained, bool records) {
    Trainer trainer(trained.config, trained.data, kGpu);
    trainer.graphs().records = records;
    Run run;
    for (int step = 0; step < trained.steps; ++step) {
        const StepResult result = trainer.step();
        for (const double value : {result.loss, result.grad_norm, result.lr}) run.measured.push_back(value);
    }
    run.weights = all_parameters<float>(trainer);
    run.counts = trainer.graphs().counts();
    run.refusal = trainer.graphs().refusal();
    return run;
}

// A buffer of zeros on the emulated device, for work that is no step.
struct Buffers {
    Arena arena{Device::cuda};
    Tensor x, draw, step;
    Exec exec;

    Buffers() {
        plan_and_commit(arena, [&](Arena& planned) {
            x = planned.add(Region::activations, "x", DType::f32, {2, 24});
            draw = planned.add(Region::activations, "draw", DType::i64, {2});
            step = planned.add(Region::activations, "step", DType::i64, {1});
            return 0;
        });
        exec = make_exec(kGpu, arena);
    }
    void fill() {
        const std::vector<float> ones(48, 1.0f);
        write_tensor(exec, x, ones.data());
    }
    std::vector<float> values() { return host_copy<float>(exec, x); }
};

}  // namespace

TEST_CASE("steps that are recorded and started again have the bits of single launches") {
    for (const Case& trained : cases()) {
        INFO(trained.name);
        const Run direct = train(trained, false), replayed = train(trained, true);
        CHECK(direct.counts.replayed + direct.counts.direct == 0);
        CHECK(replayed.counts.replayed >= trained.least_replayed);
        CHECK(replayed.counts.recorded > 0);
        CHECK(replayed.refusal.empty());
        CHECK(replayed.measured == direct.measured);
        CHECK((replayed.weights == direct.weights));
    }
}

TEST_CASE("two recordings of one shape in different steps have the same arguments") {
    for (const Case& trained : cases()) {
        INFO(trained.name);
        Trainer trainer(trained.config, trained.data, kGpu);
        std::map<GraphShape, std::vector<emulator::Launch>> first;
        std::size_t compared = 0;
        const auto inspect = [&](const GraphShape& shape, const kernels::cuda::Graph& graph) {
            const std::vector<emulator::Launch>& launches = emulator::launches_of(graph);
            const auto [before, is_new] = first.try_emplace(shape, launches);
            if (is_new) return;
            ++compared;
            CHECK(emulator::first_difference(before->second, launches).value_or("") == "");
        };
        for (int step = 0; step < 2 * trained.steps; ++step) {
            if (step % 4 == 0) trainer.graphs() = {};  // a shape is recorded at its second use
            trainer.graphs().inspect = inspect;
            trainer.step();
        }
        CHECK(compared > 1);
    }
}

TEST_CASE("an argument that is frozen in a recording is found and named") {
    Buffers on;
    std::int64_t step = 0;
    std::vector<std::vector<emulator::Launch>> recordings;
    const auto drop = [&](bool freezes) {
        StepValue<std::uint64_t> value = static_cast<std::uint64_t>(step);
        if (!freezes) value = StepValue<std::uint64_t>::in(static_cast<const std::uint64_t*>(on.step.data));
        dropout(on.exec, on.x, on.x, {}, {7, value, 1, on.draw, 0.5});
    };
    const auto kept_in = [&](StepGraphs& graphs, std::int64_t at, bool freezes) {
        step = at;
        write_tensor(on.exec, on.step, &step);
        on.fill();
        graphs.run(on.exec, {1}, [&] { drop(freezes); });
        return on.values();
    };
    const auto recorded_at = [&](std::int64_t at, bool freezes) {
        StepGraphs graphs;
        graphs.inspect = [&](const GraphShape&, const kernels::cuda::Graph& graph) {
            recordings.push_back(emulator::launches_of(graph));
        };
        kept_in(graphs, at, freezes);
        kept_in(graphs, at, freezes);
        return graphs;
    };
    StepGraphs none;
    none.records = false;
    const std::vector<float> third = kept_in(none, 3, true), fourth = kept_in(none, 4, true);
    REQUIRE(third != fourth);

    StepGraphs frozen = recorded_at(3, true);
    CHECK(kept_in(frozen, 4, true) == third);  // the planted fault
    recorded_at(4, true);
    CHECK(emulator::first_difference(recordings[0], recordings[1]) == "launch 0, drop_groups: argument 5");

    recordings.clear();
    StepGraphs from_memory = recorded_at(3, false);
    CHECK(kept_in(from_memory, 4, false) == fourth);
    recorded_at(4, false);
    CHECK(emulator::first_difference(recordings[0], recordings[1]) == std::nullopt);
}

TEST_CASE("launches of two recordings differ by kernel, grid, number or argument") {
    const auto launch = [](const char* name, std::int64_t blocks, int argument) {
        return emulator::Launch{name, blocks, 32, 0, {emulator::bytes_of(argument)}, [] {}};
    };
    const std::vector<emulator::Launch> one = {launch("a", 1, 1), launch("b", 2, 1)};
    CHECK(emulator::first_difference(one, one) == std::nullopt);
    CHECK(emulator::first_difference(one, {one[0]}) == "2 launches instead of 1");
    CHECK(emulator::first_difference(one, {one[0], launch("c", 2, 1)}) == "launch 1, b: instead of c");
    CHECK(emulator::first_difference(one, {one[0], launch("b", 3, 1)}) ==
          "launch 1, b: 2 x 32 threads instead of 3 x 32");
    CHECK(emulator::first_difference(one, {launch("a", 1, 2), one[1]}) == "launch 0, a: argument 0");
}

TEST_CASE("a shape that cannot be recorded runs launch by launch, and says why") {
    Buffers on;
    StepGraphs graphs;
    const auto kinds = GENERATE(0, 1, 2);
    const auto work = [&] {
        dropout(on.exec, on.x, on.x, {}, {7, 1, 1, on.draw, 0.5});
        const std::int64_t zero[2] = {};
        if (kinds == 0) host_copy<float>(on.exec, on.x);
        if (kinds == 1) write_tensor(on.exec, on.draw, zero);
        if (kinds == 2) kernels::cuda::synchronise(on.exec.cuda);
    };
    for (int run = 0; run < 4; ++run) {
        on.fill();
        graphs.run(on.exec, {1}, work);
        std::vector<float> values = on.values();
        CHECK(std::count(values.begin(), values.end(), 2.0f) + std::count(values.begin(), values.end(), 0.0f) == 48);
        CHECK(std::count(values.begin(), values.end(), 2.0f) > 0);
    }
    CHECK(graphs.counts().direct == 4);
    CHECK(graphs.counts().recorded == 0);
    const char* const reasons[] = {"a copy to the host", "a copy from the host", "a wait"};
    const std::string reason = std::string(reasons[kinds]) + " cannot be recorded in a graph";
    CHECK(graphs.refusal() == reason);
    CHECK(graphs.note() == "CUDA graphs: 4 of 4 parts of steps ran launch by launch: " + reason);
}

TEST_CASE("no more than 32 graphs are kept, those used last") {
    Buffers on;
    StepGraphs graphs;
    const auto use = [&](std::int64_t shape) {
        graphs.run(on.exec, {shape}, [&] { dropout(on.exec, on.x, on.x, {}, {7, 1, 1, on.draw, 0.5}); });
    };
    for (std::int64_t shape = 0; shape < 34; ++shape) use(shape), use(shape);
    CHECK(graphs.counts().recorded == 34);
    CHECK(graphs.counts().dropped == 2);
    CHECK(graphs.counts().nodes == 34);
    CHECK(graphs.note().empty());
    use(33), use(2);
    CHECK(graphs.counts().recorded == 34);
    use(0);  // known, and recorded again
    CHECK(graphs.counts().recorded == 35);
    CHECK(graphs.counts().dropped == 3);
    for (std::int64_t shape = 40; shape < 80; ++shape) use(shape), use(shape);
    CHECK(graphs.note() ==
          "CUDA graphs: 75 were recorded for 151 parts of steps, since shapes change often and 32 are kept");
}

TEST_CASE("work that fails reaches the caller, recorded or not") {
    Buffers on;
    StepGraphs graphs;
    const auto work = [&] { throw Error(ErrorKind::nonfinite, "the work fails"); };
    CHECK_THROWS_AS(graphs.run(on.exec, {1}, work), Error);
    CHECK_THROWS_AS(graphs.run(on.exec, {1}, work), Error);  // its recording fails, too
    CHECK(graphs.refusal() == "the work fails");
}

TEST_CASE("the launches of a step are as many as its layers ask for") {
    emulator::set_library({.takes_epilogues = true});
    struct Model {
        const char* name;
        TransformerConfig config;
        TrainingData data;
        std::int64_t nodes;
    };
    const TokenCorpus corpus = tiny_corpus(900, 31);
    TransformerConfig llama = small_llama(), bert = small_bert();
    bert.class_head = ClassHeadConfig{.pooler = true};
    TransformerConfig vit = small_vit(PositionsOf::learned, Pooling::first);
    vit.blocks.resize(12, vit.blocks[0]);
    for (TransformerConfig* config : {&llama, &bert}) {
        config->blocks.resize(12, config->blocks[0]);
        config->max_seqlen = 11;
        config->vocab = 31;
    }
    const std::vector<Model> models = {{"GPT, 4 layers", gpt2_config(4, 16, 2, 8, 31, 0.1), corpus, 139},
                                       {"GPT, 12 layers", gpt2_config(12, 16, 2, 8, 31, 0.1), corpus, 379},
                                       {"Llama, 12 layers", llama, corpus, 331},
                                       {"BERT, 12 layers", bert, test::small_samples(11), 510},
                                       {"ViT, 12 layers", vit, small_image_samples(9), 407}};
    for (const Model& model : models) {
        TrainerConfig config = tiny_config();
        config.model = model.config;
        config.packs_samples = false;
        Trainer trainer(config, model.data, kGpu);
        std::int64_t nodes = 0;
        for (int step = 0; step < 3; ++step) {
            nodes = trainer.graphs().counts().nodes;
            trainer.step();
        }
        CAPTURE(model.name);
        CHECK(trainer.graphs().counts().nodes - nodes == model.nodes);
    }
    emulator::set_library({});
}
