#include "engine/bench/layers.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/stopwatch.h"
#include "engine/data_efficiency/routing/router.h"
#include "engine/nn/block.h"
#include "engine/train/accounting.h"
#include "kernels/philox.h"

namespace deft::engine {

namespace {

constexpr std::uint64_t kSeed = 1;

struct Layer {
    BlockTensors weights, gradients;
    BlockSaved saved;
    Tensor own;  // (B, T, C): its output, or the rows that it gathered
};

struct LayerBuffers {
    std::vector<Layer> layers;
    BlockScratch scratch;
    Tensor stream, d_stream;  // (B, T, C)
    Tensor token, sample_id;  // (B, T), (B)
    std::optional<Router> router;
};

BlockTensors add_block(Arena& arena, Region region, const std::string& name, std::int64_t C, std::int64_t F) {
    const auto matrix = [&](const char* field, std::int64_t out, std::int64_t in) {
        return arena.add(region, name + field, DType::f32, {out, in});
    };
    const auto vector = [&](const char* field, std::int64_t size) {
        return arena.add(region, name + field, DType::f32, {size});
    };
    BlockTensors block;
    block.qkv_weight = matrix("qkv", 3 * C, C);
    block.proj_weight = matrix("proj", C, C);
    block.fc_weight = matrix("fc", F, C);
    block.fc2_weight = matrix("fc2", C, F);
    block.ln1_weight = vector("ln1", C), block.ln1_bias = vector("ln1_bias", C);
    block.qkv_bias = vector("qkv_bias", 3 * C), block.proj_bias = vector("proj_bias", C);
    block.ln2_weight = vector("ln2", C), block.ln2_bias = vector("ln2_bias", C);
    block.fc_bias = vector("fc_bias", F), block.fc2_bias = vector("fc2_bias", C);
    return block;
}

void fill(const Tensor& tensor, float scale, std::uint32_t stream) {
    float* value = tensor.as<float>();
    for (std::int64_t i = 0; i < tensor.numel(); ++i) {
        const std::uint32_t word =
            kernels::philox_u32(kSeed, kernels::RandomPurpose::tests, stream, 0, static_cast<std::uint64_t>(i), 0);
        value[i] = scale * (static_cast<float>(word >> 8) * 0x1p-23f - 1);
    }
}

}  // namespace

struct InnerLayers::State {
    TransformerConfig model;  // of the inner layers alone
    BlockShape shape;
    std::int64_t kept;
    Arena arena;
    LayerBuffers buffers;
    Exec exec;
    std::vector<float> first_stream, last_gradient;  // (B, T, C)
    std::int64_t runs = 0;

    bool drops() const { return kept < shape.T; }

    LayerBuffers plan(int threads) {
        LayerBuffers b;
        const auto [B, T, C, H, F] = shape;
        const auto add = [&](const std::string& name, DType type, std::initializer_list<std::int64_t> extents) {
            return arena.add(Region::activations, name, type, extents);
        };
        for (std::int64_t i = 0; i < model.layers; ++i) {
            const std::string name = "h." + std::to_string(i) + ".";
            Layer& layer = b.layers.emplace_back();
            layer.weights = add_block(arena, Region::parameters, name, C, F);
            layer.gradients = add_block(arena, Region::gradients, name, C, F);
            layer.saved = plan_block_saved(arena, name, DType::f32, shape);
            layer.own = add(name + "out", DType::f32, {B, T, C});
        }
        b.scratch = plan_block_scratch(arena, DType::f32, shape);
        b.stream = add("stream", DType::f32, {B, T, C});
        b.d_stream = add("d_stream", DType::f32, {B, T, C});
        b.token = add("token", DType::i32, {B, T});
        b.sample_id = add("sample_id", DType::i64, {B});
        if (drops()) {
            Routing routing = random_ltd(model.layers, {kept, kept});
            routing.layers = layer_range(0, model.layers - 1);
            b.router = plan_router(arena, routing, model, B);
        }
        const Backend backend{Device::cpu, DType::f32, threads};
        arena.reserve_workspace(workspace_bytes({backend, B, T, C, H, F, model.vocab, 16}));
        return b;
    }

    KeptTokens select() {
        if (!buffers.router) return {};
        StepPlan plan;
        plan.seqlen = shape.T;
        plan.kept = kept;
        return route(exec, *buffers.router, plan, {kSeed, runs, buffers.sample_id, buffers.token, {}});
    }

    // As Transformer::forward: a layer that takes all rows writes its own slot, one that drops updates the stream.
    void forward(const KeptTokens& chosen) {
        Tensor current = buffers.stream;
        for (std::int64_t i = 0; i < model.layers; ++i) {
            const Layer& layer = buffers.layers[static_cast<std::size_t>(i)];
            const Tensor own = layer.own.view({shape.B, kept, shape.C});
            block_forward(exec, layer.weights, view(layer.saved, shape, shape.B, kept),
                          view(buffers.scratch, shape, shape.B, kept), current, drops() ? own : Tensor{},
                          drops() ? current : own, chosen.rows(i), {model.causal, {}});
            if (!drops()) current = own;
        }
    }

    void backward(const KeptTokens& chosen) {
        for (std::int64_t i = model.layers - 1; i >= 0; --i) {
            const Layer& layer = buffers.layers[static_cast<std::size_t>(i)];
            const Tensor before = i > 0 ? buffers.layers[static_cast<std::size_t>(i - 1)].own : buffers.stream;
            block_backward(exec, layer.weights, layer.gradients, view(layer.saved, shape, shape.B, kept),
                           view(buffers.scratch, shape, shape.B, kept), buffers.d_stream,
                           drops() ? layer.own.view({shape.B, kept, shape.C}) : before, chosen.rows(i),
                           {model.causal, {}}, Accumulate::no);
        }
    }
};

InnerLayers::InnerLayers(const TransformerConfig& model, std::int64_t batch_size, std::int64_t kept, int threads)
    : state_(std::make_unique<State>()) {
    if (model.layers < 3)
        throw Error(ErrorKind::config, "a model of fewer than three layers has none between its first and last",
                    "give it more layers");
    State& s = *state_;
    s.model = model;
    s.model.layers = model.layers - 2;
    s.shape = {batch_size, model.max_seqlen, model.width, model.heads, model.hidden()};
    s.kept = kept;
    s.buffers = plan_and_commit(s.arena, [&](Arena&) { return s.plan(threads); });
    s.exec = make_exec({Device::cpu, DType::f32, threads}, s.arena);
    std::uint32_t stream = 0;
    for (const Layer& layer : s.buffers.layers) {
        const BlockTensors& w = layer.weights;
        for (const Tensor& matrix : {w.qkv_weight, w.proj_weight, w.fc_weight, w.fc2_weight})
            fill(matrix, 0.03f, ++stream);
        for (const Tensor& norm : {w.ln1_weight, w.ln2_weight}) std::fill_n(norm.as<float>(), norm.numel(), 1.0f);
    }
    fill(s.buffers.stream, 1, ++stream);
    const float* first = s.buffers.stream.as<float>();
    s.first_stream.assign(first, first + s.buffers.stream.numel());
    fill(s.buffers.d_stream, 1e-3f, ++stream);
    const float* last = s.buffers.d_stream.as<float>();
    s.last_gradient.assign(last, last + s.buffers.d_stream.numel());
    auto* id = s.buffers.sample_id.as<std::int64_t>();
    std::iota(id, id + batch_size, std::int64_t{0});
    if (s.buffers.router) start_router(s.exec, *s.buffers.router);
}

InnerLayers::~InnerLayers() = default;

double InnerLayers::run() {
    State& s = *state_;
    std::copy(s.first_stream.begin(), s.first_stream.end(), s.buffers.stream.as<float>());
    std::copy(s.last_gradient.begin(), s.last_gradient.end(), s.buffers.d_stream.as<float>());
    ++s.runs;
    const Clock::time_point start = Clock::now();
    const KeptTokens chosen = s.select();
    s.forward(chosen);
    s.backward(chosen);
    return seconds_since(start);
}

double InnerLayers::flops() const {
    const State& s = *state_;
    StepPlan plan;
    plan.seqlen = plan.kept = s.kept;
    TransformerConfig without = s.model;
    without.layers = 0;
    return static_cast<double>(s.shape.B) * (sample_flops(s.model, {}, plan) - sample_flops(without, {}, plan));
}

bool InnerLayers::is_sane() const {
    const Tensor& gradient = state_->buffers.d_stream;
    const std::span values(gradient.as<float>(), static_cast<std::size_t>(gradient.numel()));
    const bool finite = std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
    return finite && std::any_of(values.begin(), values.end(), [](float x) { return x != 0; });
}

}  // namespace deft::engine
