#include "engine/bench/layers.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/stopwatch.h"
#include "engine/bench/drawn_values.h"
#include "engine/data_efficiency/token_dropping/planned_dropping.h"
#include "engine/nn/block_stack.h"
#include "engine/nn/parameters.h"

namespace deft::engine {

namespace {

constexpr std::uint64_t kSeed = 1;

}  // namespace

struct InnerLayers::State {
    struct Buffers {
        std::unique_ptr<ParameterTable> parameters;
        std::unique_ptr<BlockStack> stack;
        Tensor end, d_stream;  // (B, T, C)
        Tensor token, draw;    // (B, T), (B)
        std::optional<PlannedDropping> dropping;
    };

    TransformerConfig model;  // of the inner layers alone
    std::int64_t B, T, kept;
    Arena arena;
    Buffers buffers;
    Exec exec;
    std::vector<float> first_stream, last_gradient;  // (B, T, C)
    std::int64_t runs = 0;

    Buffers plan(const Backend& backend) {
        Buffers b;
        b.parameters = std::make_unique<ParameterTable>(arena, backend.dtype);
        Planner planner{arena, *b.parameters, backend, Purpose::training, B, T};
        b.stack = std::make_unique<BlockStack>(planner, model.width, model.blocks);
        const auto add = [&](const std::string& name, DType type, std::initializer_list<std::int64_t> extents) {
            return arena.add(Region::activations, name, type, extents);
        };
        b.end = add("end", DType::f32, {B, T, model.width});
        b.d_stream = add("d_stream", DType::f32, {B, T, model.width});
        b.token = add("token", DType::i32, {B, T});
        b.draw = add("draw", DType::i64, {B});
        if (kept < T) {
            TokenDropping dropping = random_ltd(model.layers(), {kept, kept});
            dropping.layers = layer_range(0, model.layers() - 1);
            b.dropping = plan_dropping(arena, dropping, model, backend, B);
        }
        return b;
    }

    KeptTokens select() {
        if (!buffers.dropping) return {};
        StepPlan step;
        step.seqlen = T;
        step.kept = kept;
        return kept_tokens(exec, *buffers.dropping, step, {kSeed, runs, T, buffers.draw, buffers.token, {}});
    }

    void forward_backward() {
        const StreamRows rows{B, T, {}, select(), {}, {}};
        const Residual out = buffers.stack->forward(exec, rows);
        if (out.branch) residual_forward(exec, buffers.end, {}, out.rows, out.branch);
        buffers.stack->backward(exec, buffers.d_stream, rows, Accumulate::no);
    }
};

InnerLayers::InnerLayers(const TransformerConfig& model, std::int64_t batch_size, std::int64_t kept, int threads)
    : state_(std::make_unique<State>()) {
    if (model.layers() < 3)
        throw Error(ErrorKind::config, "a model of fewer than three layers has none between its first and last",
                    "give it more layers");
    State& s = *state_;
    s.model = model;
    s.model.blocks.resize(model.blocks.size() - 2);
    s.B = batch_size;
    s.T = model.max_seqlen;
    s.kept = kept;
    const Backend backend{Device::cpu, DType::f32, threads};
    s.buffers = plan_and_commit(s.arena, [&](Arena&) { return s.plan(backend); });
    s.exec = make_exec(backend, s.arena);
    initialise(s.exec, *s.buffers.parameters, kSeed, 0.02, s.model.layers());
    const auto values = [&](float scale, std::uint32_t stream) {
        fill_uniformly(s.buffers.d_stream, scale, stream);
        const float* first = s.buffers.d_stream.as<float>();
        return std::vector<float>(first, first + s.buffers.d_stream.numel());
    };
    s.first_stream = values(1, 1);
    s.last_gradient = values(1e-3f, 2);
    auto* id = s.buffers.draw.as<std::int64_t>();
    std::iota(id, id + batch_size, std::int64_t{0});
    if (s.buffers.dropping) s.buffers.dropping->choice.start(s.exec);
}

InnerLayers::~InnerLayers() = default;

double InnerLayers::run() {
    State& s = *state_;
    const Tensor stream = s.buffers.stack->input({s.B, s.T, {}, {}, {}, {}});
    std::copy(s.first_stream.begin(), s.first_stream.end(), stream.as<float>());
    std::copy(s.last_gradient.begin(), s.last_gradient.end(), s.buffers.d_stream.as<float>());
    ++s.runs;
    const Clock::time_point start = Clock::now();
    s.forward_backward();
    return seconds_since(start);
}

double InnerLayers::flops() const {
    double flops = 0;
    for (const Block& block : state_->buffers.stack->blocks())
        flops += static_cast<double>(state_->B) * block.flops().of(state_->kept);
    return flops;
}

bool InnerLayers::is_sane() const {
    return is_finite_and_not_zero(state_->buffers.d_stream);
}

}  // namespace deft::engine
