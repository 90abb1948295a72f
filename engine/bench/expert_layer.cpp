#include "engine/bench/expert_layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/stopwatch.h"
#include "engine/bench/drawn_values.h"
#include "engine/core/op_profile.h"
#include "engine/nn/experts.h"

namespace deft::engine {

namespace {

constexpr std::uint64_t kLayerSeed = 1;

bool is_of_experts(std::string_view op) {
    return op.starts_with("grouped_linear") || op.starts_with("activation");
}

}  // namespace

struct LayerRun::State {
    struct Buffers {
        std::unique_ptr<ParameterTable> parameters;
        std::optional<FeedForward> dense;
        std::optional<Experts> experts;
        Tensor x, out, dout, dx;  // (1, N, C)
        Tensor draw;              // (1)
    };

    ExpertLayerBench bench;
    Arena arena;
    Buffers buffers;
    Exec exec;

    Buffers plan(TimedLayer layer) {
        const Backend backend{Device::cpu, DType::f32, bench.threads};
        Buffers b;
        b.parameters = std::make_unique<ParameterTable>(arena, backend.dtype);
        const Planner planner{arena, *b.parameters, backend, Purpose::training, 1, bench.rows};
        if (layer == TimedLayer::dense)
            b.dense.emplace(planner, bench.width, FeedForwardConfig{.hidden = bench.top * bench.hidden});
        else
            b.experts.emplace(planner, bench.width, FeedForwardConfig{.hidden = bench.hidden},
                              ExpertsConfig{.count = bench.experts, .top = bench.top, .capacity_factor = 0});
        for (const auto& [tensor, name] : {std::pair{&b.x, "x"}, {&b.out, "out"}, {&b.dout, "dout"}, {&b.dx, "dx"}})
            *tensor = arena.add(Region::activations, name, DType::f32, {1, bench.rows, bench.width});
        b.draw = arena.add(Region::activations, "draw", DType::i64, {1});
        return b;
    }

    void forward_backward() {
        if (buffers.dense) {
            buffers.dense->forward(exec, buffers.out, buffers.x);
            buffers.dense->backward(exec, buffers.dx, buffers.dout, buffers.x, Accumulate::no);
            return;
        }
        const RoutingRows rows{.B = 1, .K = bench.rows, .seed = kLayerSeed, .draw = buffers.draw};
        buffers.experts->forward(exec, buffers.out, buffers.x, rows);
        buffers.experts->backward(exec, buffers.dx, buffers.dout, buffers.x, rows, 1, Accumulate::no);
    }
};

LayerRun::LayerRun(const ExpertLayerBench& bench, TimedLayer layer) : state_(std::make_unique<State>()) {
    if (bench.top > bench.experts)
        throw Error(ErrorKind::config, fmt::format("a row cannot take {} of {} experts", bench.top, bench.experts),
                    "choose as many experts or more");
    State& s = *state_;
    s.bench = bench;
    s.buffers = plan_and_commit(s.arena, [&](Arena&) { return s.plan(layer); });
    s.exec = make_exec(Backend{Device::cpu, DType::f32, bench.threads}, s.arena);
    initialise(s.exec, *s.buffers.parameters, kLayerSeed, 0.02, 1);
    fill_uniformly(s.buffers.x, 1.7f, 1);  // about the variance of what a norm puts out
    fill_uniformly(s.buffers.dout, 1e-3f, 2);
}

LayerRun::~LayerRun() = default;

double LayerRun::run() {
    const Clock::time_point start = Clock::now();
    state_->forward_backward();
    return seconds_since(start);
}

double LayerRun::routing_share() {
    State& s = *state_;
    if (!s.buffers.experts) return 0;
    OpProfile profile(s.exec);
    s.exec.profile = &profile;
    s.forward_backward();
    s.exec.profile = nullptr;
    const double whole = profile.finish();
    double of_experts = 0;
    for (const OpRecord& record : profile.records)
        if (is_of_experts(record.op)) of_experts += record.seconds;
    return (whole - of_experts) / whole;
}

double LayerRun::busiest_load() const {
    const State& s = *state_;
    if (!s.buffers.experts) return 1;
    const auto* const start = s.buffers.experts->start().as<std::int32_t>();
    std::int64_t most = 0;
    for (std::int64_t e = 0; e < s.bench.experts; ++e) most = std::max<std::int64_t>(most, start[e + 1] - start[e]);
    return static_cast<double>(most * s.bench.experts) / static_cast<double>(s.bench.rows * s.bench.top);
}

bool LayerRun::is_sane() const {
    return is_finite_and_not_zero(state_->buffers.dx);
}

}  // namespace deft::engine
