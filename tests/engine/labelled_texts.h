#pragma once
// Small labelled texts, and a model that classifies them, or predicts their values.

#include <cmath>
#include <memory>
#include <vector>

#include "engine/data/labelled/labelled_samples.h"
#include "tests/engine/bert_corpus.h"
#include "tests/engine/model_parts.h"
#include "tests/engine/tiny.h"

namespace deft::test {

inline constexpr std::int64_t kLongestText = 12;

// Some of one text, most of two, some longer than a row. classes: as of LabelledSamples; no two samples have one text.
inline std::shared_ptr<const engine::LabelledSamples> small_labelled_texts(std::int64_t count, std::int64_t classes) {
    const auto vocabulary = numbered_vocabulary(9, 0);
    const auto samples = std::make_shared<engine::LabelledSamples>(vocabulary->vocabulary(), kLongestText, classes);
    for (std::int64_t i = 0; i < count; ++i) {
        Ids a, b;
        for (std::int64_t t = 0; t < 2 + i % 3; ++t)
            a.push_back(kFirstWord + static_cast<std::int32_t>((i + t * t) % 9));
        for (std::int64_t t = 0; t < 1 + i % 9; ++t)
            b.push_back(kFirstWord + static_cast<std::int32_t>((i / 9 + 2 * t) % 9));
        engine::TextPair texts{a, {}};
        if (i % 4 != 1) texts.b = b;
        if (classes == 0)
            samples->add_value(texts, static_cast<float>(2 * std::sin(0.7 * static_cast<double>(i * i))));
        else
            samples->add_class(texts, static_cast<std::int32_t>((i * i + i / 3) % classes));
    }
    return samples;
}

// classes: 0 for values. Dropout in the head alone.
inline engine::TransformerConfig labelled_model(std::int64_t classes, double head_dropout = 0) {
    using namespace engine;
    TransformerConfig config =
        model_of(NormKind::layer, NormPlacement::post, PositionsOf::learned, Activation::gelu_erf, 2, 0);
    for (BlockConfig& block : config.blocks) block.attention.causal = false;
    config.max_seqlen = kLongestText;
    config.vocab = 14;
    config.input.segments = 2;
    config.head.reset();
    config.class_head = {.classes = classes, .pooler = true, .dropout = head_dropout};
    if (classes == 0) {
        config.class_head->classes = 1;
        config.class_head->value = true;
    }
    return config;
}

inline engine::TrainerConfig labelled_training(std::int64_t classes, std::int64_t batch, double head_dropout = 0) {
    engine::TrainerConfig config = engine::tiny_config(2, kLongestText, batch);
    config.model = labelled_model(classes, head_dropout);
    config.optimizer.weight_decay = 0;
    return config;
}

}  // namespace deft::test
