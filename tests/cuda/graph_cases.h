#pragma once
// Trainings whose steps are recorded as graphs, and a buffer for other work.

#include <vector>

#include "engine/core/step_graphs.h"
#include "kernels/cuda/runtime.h"
#include "tests/cuda/short_steps.h"
#include "tests/engine/bert_corpus.h"
#include "tests/engine/labelled_texts.h"
#include "tests/engine/small_vit.h"

namespace deft::engine {

inline constexpr Backend kGraphGpu{Device::cuda, DType::bf16, 1};

struct GraphCase {
    const char* name;
    TrainerConfig config;
    TrainingData data;
    int steps;
    std::size_t least_recorded = 1;  // shapes of micro-batches
};

// Lengths and kept tokens that grow, a last micro-batch that is smaller, a warm-up, random draws in every part.
inline std::vector<GraphCase> graph_cases() {
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
    TrainerConfig moments = short_steps();
    moments.optimizer.rounds_moments = true;
    TrainerConfig labelled = test::labelled_training(3, 6, 0.1), padded = bert;
    labelled.packs_samples = false;
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
            {"moments in bf16", moments, corpus, 8},
            {"token bypass", bypass, corpus, 8},
            {"BERT, packed", bert, test::small_samples(11), 8, 0},
            {"images", small_vit_training(4, 3), small_image_samples(9), 8},
            {"labelled texts", labelled, test::small_labelled_texts(20, 3), 8},
            {"BERT, padded", padded, test::small_samples(11), 8}};
}

// The model evaluates the first B samples of the data, 1 or 2.
inline void evaluate_samples(Trainer& trainer, const TrainingData& data, std::int64_t B) {
    TrainerConfig whole;
    whole.model = trainer.config().model;
    whole.batch_size = whole.micro_batch_size = B;
    Batches batches(data, whole, Device::cuda);
    const std::vector<Sampler::Draw> draws = {{0, 0}, {1, 1}};
    batches.stage(plan_step(whole.model.extents(), {}, 0, B), std::span(draws).first(static_cast<std::size_t>(B)), 0);
    trainer.model().load(trainer.exec(), batches.rows(0, B));
    trainer.model().evaluate(trainer.exec(), B, whole.model.max_seqlen);
    kernels::cuda::synchronise(trainer.exec().cuda);  // before the samples are gone
}

// A buffer of zeros on the device.
struct GraphBuffers {
    Arena arena{Device::cuda};
    Tensor x, draw, step;
    Exec exec;

    GraphBuffers() {
        plan_and_commit(arena, [&](Arena& planned) {
            x = planned.add(Region::activations, "x", DType::f32, {2, 24});
            draw = planned.add(Region::activations, "draw", DType::i64, {2});
            step = planned.add(Region::activations, "step", DType::i64, {1});
            return 0;
        });
        exec = make_exec(kGraphGpu, arena);
    }
    void fill() {
        const std::vector<float> ones(48, 1.0f);
        write_tensor(exec, x, ones.data());
    }
    std::vector<float> values() { return host_copy<float>(exec, x); }
};

}  // namespace deft::engine
