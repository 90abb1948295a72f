#pragma once
// A model opened for inference, what it puts out for the inputs of a file, and files that Hugging Face wrote.

#include <memory>
#include <string>
#include <vector>

#include "engine/io/safetensors.h"
#include "engine/train/foreign_weights.h"
#include "engine/train/trainer.h"
#include "tests/engine/tiny.h"
#include "tests/python.h"
#include "tests/temporary_folder.h"

namespace deft::engine {

// Weights are the initial ones of that seed.
struct OpenedModel {
    Arena arena;
    std::unique_ptr<Transformer> transformer;
    Exec exec;

    explicit OpenedModel(const TransformerConfig& config, std::uint64_t seed = 5, std::int64_t batch = 2) {
        const Backend backend{Device::cpu, DType::f32, 2};
        transformer = plan_and_commit(arena, [&](Arena& a) {
            return std::make_unique<Transformer>(a, config, backend, batch, Purpose::inference);
        });
        exec = make_exec(backend, arena);
        initialise(exec, transformer->parameters(), seed, config.init_std, config.layers());
    }
    std::vector<float> weights() const {
        std::vector<float> all;
        for (const Parameter& p : transformer->parameters().all()) {
            const std::vector<float> part = values<float>(p.value);
            all.insert(all.end(), part.begin(), part.end());
        }
        return all;
    }
    std::vector<float> weight(const std::string& name) const {
        for (const Parameter& p : transformer->parameters().all())
            if (p.name == name) return values<float>(p.value);
        throw std::logic_error("no weight named " + name);
    }
};

// Logits for the file's tokens (B, T) or images (B, height, width, channels).
struct Outputs {
    std::vector<float> logits, class_logits;
};
inline Outputs outputs_for(OpenedModel& model, const SafetensorsFile& inputs) {
    const TransformerConfig& config = model.transformer->config();
    const bool is_images = inputs.tensors.contains("image");
    const Tensor& first = inputs.tensors.at(is_images ? "image" : "token");
    const std::int64_t B = first.dim(0), T = is_images ? config.max_seqlen : first.dim(1);
    const std::vector<std::int32_t> no_target(static_cast<std::size_t>(B * T), kernels::kIgnoreTarget);
    std::vector<std::int32_t> target = no_target;
    target[0] = 1;  // a head without targets may do nothing
    std::vector<std::int32_t> class_target(static_cast<std::size_t>(B), 0), segment;
    std::vector<std::int32_t> token;
    std::vector<float> image;
    ModelInput input{.B = B, .T = T};
    if (is_images) {
        image = values<float>(first);
        input.image = image.data();
    } else {
        token = values<std::int32_t>(first);
        input.token = token.data();
        input.target = target.data();
    }
    if (inputs.tensors.contains("segment")) {
        segment = values<std::int32_t>(inputs.tensors.at("segment"));
        input.segment = segment.data();
    }
    if (config.class_head) input.class_target = class_target.data();
    model.transformer->load(model.exec, input);
    model.transformer->evaluate(model.exec, B, T);
    Outputs out;
    if (config.head) {
        out.logits.resize(static_cast<std::size_t>(B * T * config.vocab));
        model.transformer->logits(model.exec, make_tensor(out.logits.data(), DType::f32, {B, T, config.vocab}), B, T);
    }
    if (config.class_head) {
        const std::int64_t classes = config.class_head->classes;
        out.class_logits.resize(static_cast<std::size_t>(B * classes));
        model.transformer->class_logits(model.exec, make_tensor(out.class_logits.data(), DType::f32, {B, classes}));
    }
    return out;
}

// The error of the difference, relative to the expected values.
inline double normalised_squared_error(const std::vector<float>& ours, const std::vector<float>& theirs) {
    if (ours.size() != theirs.size()) return 1e30;
    double error = 0, sum = 0;
    for (std::size_t i = 0; i < ours.size(); ++i) {
        const double difference = static_cast<double>(ours[i]) - static_cast<double>(theirs[i]);
        error += difference * difference;
        sum += static_cast<double>(theirs[i]) * static_cast<double>(theirs[i]);
    }
    return error / sum;
}

inline deft::ProcessOutput exchange(std::vector<std::string> words) {
    words.insert(words.begin(), DEFT_SOURCE_DIR "/tests/engine/huggingface_exchange.py");
    return deft::test::run_python(std::move(words));
}

}  // namespace deft::engine
