// Launches that graphs record: their arguments hold in every step, and their number is that of five models.

#include <map>
#include <optional>

#include "kernels/cuda/emulator/library_gemm.h"
#include "kernels/cuda/emulator/stream.h"
#include "kernels/cuda/graph.h"
#include "tests/catch.h"
#include "tests/cuda/graph_cases.h"
#include "tests/engine/small_vit.h"

using namespace deft;
using namespace deft::engine;
namespace emulator = deft::kernels::cuda::emulator;

TEST_CASE("two recordings of one shape in different steps have the same arguments") {
    for (const GraphCase& trained : graph_cases()) {
        INFO(trained.name);
        Trainer trainer(trained.config, trained.data, kGraphGpu);
        std::map<GraphShape, std::vector<emulator::Launch>> first;
        std::size_t compared = 0;
        const auto inspect = [&](const GraphShape& shape, const kernels::cuda::Graph& graph) {
            const std::vector<emulator::Launch>& launches = emulator::launches_of(graph);
            const auto [before, is_new] = first.try_emplace(shape, launches);
            if (is_new) return;
            compared += shape != GraphShape{};
            CHECK(emulator::first_difference(before->second, launches).value_or("") == "");
        };
        for (int step = 0; step < 2 * trained.steps; ++step) {
            if (step % 4 == 0) trainer.graphs() = {};  // a shape is recorded at its second use
            trainer.graphs().inspect = inspect;
            trainer.step();
        }
        CHECK((compared > 0 || trained.least_recorded == 0));
    }
}

TEST_CASE("two recordings of one evaluation have the same arguments, and leave its logits") {
    for (const GraphCase& trained : graph_cases()) {
        INFO(trained.name);
        Trainer trainer(trained.config, trained.data, kGraphGpu);
        std::vector<std::vector<emulator::Launch>> recordings;
        for (int round = 0; round < 2; ++round) {
            trainer.step();
            StepGraphs& graphs = trainer.model().evaluation_graphs() = {};
            graphs.inspect = [&](const GraphShape&, const kernels::cuda::Graph& graph) {
                recordings.push_back(emulator::launches_of(graph));
            };
            for (int use = 0; use < 2; ++use) evaluate_samples(trainer, trained.data, 2);
        }
        REQUIRE(recordings.size() == 2);
        CHECK(emulator::first_difference(recordings[0], recordings[1]).value_or("") == "");

        const TransformerConfig& model = trained.config.model;
        if (!model.head) continue;
        const auto logits = [&] {
            std::vector<std::uint16_t> values(static_cast<std::size_t>(2 * model.max_seqlen * model.vocab));
            const Tensor out = make_tensor(values.data(), DType::bf16, {2, model.max_seqlen, model.vocab});
            trainer.model().logits(trainer.exec(), out, 2, model.max_seqlen);
            return values;
        };
        const std::vector<std::uint16_t> expected = logits();
        evaluate_samples(trainer, trained.data, 1);
        evaluate_samples(trainer, trained.data, 2);
        CHECK(trainer.model().evaluation_graphs().counts().replayed == 2);
        CHECK((logits() == expected));
    }
}

TEST_CASE("an argument that is frozen in a recording is found and named") {
    GraphBuffers on;
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

TEST_CASE("a step of five kinds of models has as many launches as the documentation states") {
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
    const std::vector<Model> models = {{"GPT, 4 layers", gpt2_config(4, 16, 2, 8, 31, 0.1), corpus, 109},
                                       {"GPT, 12 layers", gpt2_config(12, 16, 2, 8, 31, 0.1), corpus, 293},
                                       {"Llama, 12 layers", llama, corpus, 293},
                                       {"BERT, 12 layers", bert, test::small_samples(11), 421},
                                       {"ViT, 12 layers", vit, small_image_samples(9), 320}};
    for (const Model& model : models) {
        TrainerConfig config = tiny_config();
        config.model = model.config;
        config.packs_samples = false;
        Trainer trainer(config, model.data, kGraphGpu);
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
