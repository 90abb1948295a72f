// The shape audit: every matrix product that a training step asks a GPU for has dimensions in multiples of 8, and falls
// in a bucket of plans that the full step has. The products are those of dry runs; no GPU is needed.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/train/planned_products.h"
#include "experiments/model_presets.h"
#include "kernels/cuda/product_plans.h"
#include "kernels/cuda/workspace.h"
#include "tests/catch.h"

namespace deft::product_shapes {

using namespace engine;
using kernels::cuda::ProductShape;

namespace {

struct Audited {
    std::string preset;
    std::int64_t vocab, batch;
};
const std::vector<Audited> kModels = {{"gpt2_small", 50257, 16}, {"gpt2_350m", 50257, 16}, {"gpt3_1.3b", 50257, 8},
                                      {"bert_large", 30522, 8},  {"vit_b16", 1000, 64},    {"llama_1b", 32000, 8}};

TrainerConfig config_of(const Audited& model) {
    TrainerConfig config;
    config.model = experiments::preset_model(model.preset, model.vocab);
    if (!config.model.input.patches) config.model.vocab = model.vocab;
    config.batch_size = config.micro_batch_size = model.batch;
    return config;
}

// The curricula of the published recipes: lengths grow by multiples of 8, kept tokens by multiples of 16.
enum class Schedule { full, curriculum, random_ltd, both };
constexpr std::int64_t kSteps = 40;
void add_techniques(TrainerConfig& config, Schedule schedule) {
    const std::int64_t T = config.model.max_seqlen;
    if (schedule == Schedule::curriculum || schedule == Schedule::both)
        config.techniques.seqtru = Pacing{64, T, 8, kSteps, 1};
    if (schedule == Schedule::random_ltd || schedule == Schedule::both)
        config.techniques.dropping = random_ltd(config.model.layers(), Pacing{64, T, 16, kSteps, 1});
}

// Why a dimension need not be a multiple of 8; empty where it must.
std::string exception_of(const TrainerConfig& config, std::int64_t dimension) {
    const TransformerConfig& model = config.model;
    if (model.class_head && dimension == model.class_head->classes) return "classes: as many as the data has";
    return {};
}

// The part of a shape that stays when its rows change.
ProductShape family_of(const ProductShape& shape) {
    return with_activation_rows(shape, 0);
}

std::map<ProductShape, std::int64_t> most_rows_of_families(const std::vector<ProductShape>& shapes) {
    std::map<ProductShape, std::int64_t> most;
    for (const ProductShape& shape : shapes) {
        std::int64_t& rows = most[family_of(shape)];
        rows = std::max(rows, activation_rows(shape));
    }
    return most;
}

}  // namespace

TEST_CASE("products of every family of models have dimensions in multiples of 8, at every length of a schedule") {
    const Backend backend{Device::cuda, DType::bf16, 1};
    std::map<std::string, std::int64_t> exceptions;
    for (const Audited& audited : kModels)
        for (const Schedule schedule : {Schedule::full, Schedule::curriculum, Schedule::random_ltd, Schedule::both}) {
            TrainerConfig config = config_of(audited);
            const bool is_image = config.model.input.patches.has_value();
            if (is_image && (schedule == Schedule::curriculum || schedule == Schedule::both)) continue;  // no lengths
            const auto full = most_rows_of_families(planned_products(config, backend, plan_step(config, 0)));
            add_techniques(config, schedule);
            std::set<ProductShape> seen;
            for (std::int64_t step = 0; step <= kSteps; step += 5)
                for (const ProductShape& shape : planned_products(config, backend, plan_step(config, step)))
                    seen.insert(shape);
            CHECK(seen.size() >= 10);
            for (const ProductShape& shape : seen) {
                INFO(audited.preset << ": " << shape.text());
                for (const std::int64_t dimension : {shape.m, shape.n, shape.k}) {
                    if (dimension % 8 == 0) continue;
                    const std::string reason = exception_of(config, dimension);
                    CHECK(reason != "");
                    ++exceptions[reason];
                }
                const auto family = full.find(family_of(shape));
                REQUIRE(family != full.end());
                const std::int64_t end = activation_rows(kernels::cuda::bucket_of({shape}).shape);
                CHECK(end % kernels::cuda::kRowsOfBucket == 0);
                CHECK(end < family->second + kernels::cuda::kRowsOfBucket);
            }
        }
    CHECK(exceptions.size() == 1);
    CHECK(exceptions.count("classes: as many as the data has") == 1);
}

TEST_CASE("a dry run's products have the FLOPs that a step is counted with, but for attention") {
    for (const Audited& audited : kModels) {
        if (audited.preset == "bert_large") continue;  // its head is counted for every position
        INFO(audited.preset);
        const TrainerConfig config = config_of(audited);
        const ModelFlops counted = model_size(config.model).flops;
        double of_row = counted.rest.per_row, of_sample = counted.rest.per_sample, planned = 0;
        for (const TrainingFlops& block : counted.blocks) of_row += block.per_row, of_sample += block.per_sample;
        const Backend backend{Device::cuda, DType::bf16, 1};
        for (const ProductShape& shape : planned_products(config, backend, plan_step(config, 0)))
            planned += shape.flops();
        const double rows = static_cast<double>(config.batch_size * config.model.max_seqlen);
        CHECK(planned == Approx(rows * of_row + static_cast<double>(config.batch_size) * of_sample).epsilon(0.01));
    }
}

}  // namespace deft::product_shapes
