#pragma once
// Trainers on the ranks that this program runs on, and what they save to.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/engine/bert_corpus.h"
#include "tests/engine/model_parts.h"
#include "tests/engine/tiny.h"
#include "tests/ranks/all_ranks.h"
#include "tests/temporary_folder.h"

namespace deft::test {

constexpr std::int64_t kBatch = 12;  // of which 1, 2, 3 and 4 ranks have equal parts

inline engine::Trainer on_ranks(const engine::TrainerConfig& config, const engine::TrainingData& data,
                                const engine::Communicator& ranks = all_ranks(),
                                engine::DType dtype = engine::DType::f32) {
    return {config, data, engine::Backend{engine::Device::cpu, dtype, 1}, engine::InitialWeights::drawn, ranks};
}

// Whether all ranks have rank 0's values.
template <class Value>
bool same_everywhere(const std::vector<Value>& values) {
    std::vector<Value> of_first = values;
    all_ranks().broadcast(std::as_writable_bytes(std::span(of_first)), 0);
    return of_first == values;
}

// One temporary folder for all ranks, which is gone once all are done with it.
class SharedFolder {
 public:
    SharedFolder() {
        if (all_ranks().rank() == 0) made_.emplace();
        path_ = engine::text_of_rank(all_ranks(), 0, made_ ? made_->path().string() : std::string());
    }
    ~SharedFolder() {
        if (std::uncaught_exceptions() == 0) all_ranks().barrier();
    }
    SharedFolder(const SharedFolder&) = delete;
    SharedFolder& operator=(const SharedFolder&) = delete;

    std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
    std::optional<TemporaryFolder> made_;
    std::filesystem::path path_;
};

inline engine::TrainerConfig bert_training() {
    engine::TrainerConfig config = engine::tiny_config(4, 11, kBatch);
    config.model = engine::small_bert();
    config.model.blocks.resize(4, config.model.blocks[0]);
    config.model.max_seqlen = 11;
    config.model.vocab = 31;
    config.model.class_head = engine::ClassHeadConfig{.pooler = true};
    return config;
}

inline engine::ExpertsConfig three_experts() {
    return {.count = 3,
            .top = 2,
            .capacity_factor = 0,
            .jitter = 0.01,
            .aux_weight = 0,
            .z_weight = 0.01,
            .residual = true};
}

}  // namespace deft::test
