#pragma once
// One layer of experts by itself, on rows that are drawn for it.

#include <memory>
#include <string>
#include <vector>

#include "engine/nn/experts.h"
#include "kernels/philox.h"

namespace deft::engine {

struct ExpertLayerShape {
    std::int64_t B = 2, K = 7, C = 6;
    FeedForwardConfig feed_forward = {.hidden = 5};
};

// The loss is sum(out weights) + loss_scale (auxiliary losses).
struct ExpertLayer {
    static constexpr double kLossScale = 0.7;

    ExpertLayerShape shape;
    ExpertsConfig config;
    Arena arena;
    ParameterTable table;
    std::unique_ptr<Experts> experts;
    Exec exec;
    std::vector<double> x, out_weight;  // (B, K, C)
    std::vector<std::int64_t> draw;     // (B); empty: a pass that scores
    std::vector<std::int32_t> length;   // (B) or empty
    std::vector<std::int32_t> start;    // (B + 1) or empty
    std::vector<double> out, dx;        // of the last pass

    ExpertLayer(const ExpertsConfig& config_, const ExpertLayerShape& shape_ = {}, DType dtype = DType::f64,
                int threads = 1, std::uint64_t seed = 5)
        : shape(shape_), config(config_), table(arena, dtype) {
        const Backend backend{Device::cpu, dtype, threads};
        const auto plan = [&](Arena& a) {
            table = ParameterTable(a, dtype);
            return std::make_unique<Experts>(Planner{a, table, backend, Purpose::training, shape.B, shape.K}, shape.C,
                                             shape.feed_forward, config);
        };
        experts = plan_and_commit(arena, plan);
        exec = make_exec(backend, arena);
        initialise(exec, table, seed, 0.6, 1);
        for (const Parameter& parameter : table.all())  // biases too
            if (parameter.kind == ParameterKind::bias) set(parameter.value, normal(parameter.value.numel(), 77, seed));
        x = normal(rows() * shape.C, 1, seed);
        out_weight = normal(rows() * shape.C, 2, seed);
        for (std::int64_t b = 0; b < shape.B; ++b) draw.push_back(b * 17 + 3);
    }

    std::int64_t rows() const { return shape.B * shape.K; }

    // The loss of a pass over the samples [first, first + n), and its gradients in the table and in dx.
    double train(std::int64_t first, std::int64_t n, Accumulate accumulate = Accumulate::no) {
        return experts_dtype() == DType::f64 ? run<double>(first, n, accumulate) : run<float>(first, n, accumulate);
    }
    double train() { return train(0, shape.B); }

    std::vector<double> gradients() const { return as_doubles(table.flat_gradients()); }
    std::vector<double> auxiliary() const { return as_doubles(experts->losses()); }

    static std::vector<double> as_doubles(const Tensor& tensor) {
        std::vector<double> values;
        for (std::int64_t i = 0; i < tensor.numel(); ++i)
            values.push_back(tensor.dtype == DType::f64 ? tensor.as<double>()[i]
                                                        : static_cast<double>(tensor.as<float>()[i]));
        return values;
    }
    static std::vector<double> normal(std::int64_t n, std::uint64_t number, std::uint64_t seed) {
        std::vector<double> values;
        for (std::int64_t i = 0; i < n; ++i)  // exact in float
            values.push_back(static_cast<float>(kernels::philox_normal(kernels::philox_block(
                seed, kernels::RandomPurpose::tests, 0, 0, number, static_cast<std::uint32_t>(i)))));
        return values;
    }
    static void set(const Tensor& tensor, const std::vector<double>& values) {
        for (std::int64_t i = 0; i < tensor.numel(); ++i) {
            const double value = values[static_cast<std::size_t>(i)];
            if (tensor.dtype == DType::f64)
                tensor.as<double>()[i] = value;
            else
                tensor.as<float>()[i] = static_cast<float>(value);
        }
    }

    RoutingRows routing(std::int64_t first, std::int64_t n) {
        const auto at = static_cast<std::size_t>(first);
        RoutingRows result{.B = n, .K = shape.K, .seed = 9, .step = 4, .layer = 3};
        if (!length.empty()) result.length = make_tensor(&length[at], DType::i32, {n});
        if (!draw.empty()) result.draw = make_tensor(&draw[at], DType::i64, {n});
        if (!start.empty()) {
            result.B = 1;
            result.K = start.back();
            result.packed = {make_tensor(start.data(), DType::i32, {static_cast<std::int64_t>(start.size())}), shape.K};
        }
        return result;
    }

 private:
    DType experts_dtype() const { return table[0].value.dtype; }

    template <class Real>
    double run(std::int64_t first, std::int64_t n, Accumulate accumulate) {
        const RoutingRows of_pass = routing(first, n);
        const std::int64_t begin = first * shape.K * shape.C, size = of_pass.rows() * shape.C;
        const auto tensor = [&](std::vector<Real>& values) {
            return make_tensor(values.data(), dtype_of<Real>, {of_pass.B, of_pass.K, shape.C});
        };
        std::vector<Real> in(x.begin() + begin, x.begin() + begin + size), result(in.size());
        std::vector<Real> gradient(out_weight.begin() + begin, out_weight.begin() + begin + size);
        experts->forward(exec, tensor(result), tensor(in), of_pass);
        out.assign(result.begin(), result.end());
        double loss = 0;
        for (std::size_t i = 0; i < out.size(); ++i) loss += out[i] * static_cast<double>(gradient[i]);
        loss += kLossScale * (config.aux_weight * auxiliary()[kernels::kBalanceLoss] +
                              config.z_weight * auxiliary()[kernels::kZLoss]);
        experts->backward(exec, tensor(gradient), tensor(gradient), tensor(in), of_pass, kLossScale, accumulate);
        dx.assign(gradient.begin(), gradient.end());
        return loss;
    }
};

}  // namespace deft::engine
