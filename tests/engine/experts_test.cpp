// A layer of experts: its gradients, what must make no difference, and routings that are worked out by hand.

#include "tests/engine/expert_layer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/catch.h"
#include "tests/engine/finite_differences.h"

using namespace deft::engine;

namespace {

using Ints = std::vector<std::int32_t>;

ExpertsConfig dropless(std::int64_t count, std::int64_t top) {
    return {.count = count, .top = top, .capacity_factor = 0, .aux_weight = 0.3, .z_weight = 0.2};
}

struct NamedExperts {
    std::string name;
    ExpertsConfig config;
    Activation activation = Activation::gelu_tanh;
    bool is_padded = false, is_packed = false, bias = true;
};

std::vector<NamedExperts> named_experts() {
    std::vector<NamedExperts> all;
    for (const std::int64_t top : {1, 2, 3}) all.push_back({"top " + std::to_string(top), dropless(4, top)});
    ExpertsConfig tight = dropless(4, 1);
    tight.capacity_factor = 0.6;
    tight.min_capacity = 1;
    for (const bool at_random : {false, true})
        for (const std::int64_t top : {1, 2, 3}) {
            tight.top = top;
            tight.random_token_selection = at_random;
            all.push_back({"capacity, top " + std::to_string(top) + (at_random ? " at random" : ""), tight});
        }
    ExpertsConfig noisy = tight;
    noisy.sampled_noise = true;
    noisy.jitter = 0.2;
    noisy.top = 1;
    all.push_back({"noise, top 1", noisy});
    noisy.top = 2;
    all.push_back({"noise, top 2, padded", noisy, Activation::gelu_erf, true});
    all.push_back({"noise, top 2, packed", noisy, Activation::swiglu, false, true});
    noisy.residual = true;
    all.push_back({"residual, noise", noisy, Activation::swiglu, true});
    ExpertsConfig residual = dropless(3, 1);
    residual.residual = true;
    all.push_back({"residual", residual, Activation::gelu_tanh, false, false, false});
    ExpertsConfig plain = dropless(4, 2);
    plain.aux_weight = plain.z_weight = 0;
    all.push_back({"without auxiliary losses", plain, Activation::tanh});
    return all;
}

ExpertLayer layer_of(const NamedExperts& named, DType dtype = DType::f64, int threads = 1) {
    return ExpertLayer(named.config, {3, 7, 6, {5, named.activation, named.bias}}, dtype, threads);
}

void set_rows(ExpertLayer& layer, const NamedExperts& named) {
    if (named.is_padded) layer.length = {4, 0, 7};
    if (named.is_packed) layer.start = {0, 5, 5, 12};
}

std::int64_t dropped(const ExpertLayer& layer) {
    const std::int32_t* const chosen = layer.experts->chosen().as<std::int32_t>();
    const std::int64_t E = layer.config.count;
    return chosen[E] * layer.config.top - layer.experts->start().as<std::int32_t>()[E];
}

}  // namespace

TEST_CASE("experts have the gradients of finite differences") {
    for (const NamedExperts& named : named_experts()) {
        INFO(named.name);
        ExpertLayer layer = layer_of(named);
        set_rows(layer, named);
        check_finite_differences(layer.table, 1e-8, [&] { return layer.train(); });
        layer.train();
        CHECK((dropped(layer) > 0) == (named.config.capacity_factor > 0));
        const std::vector<double> dx = layer.dx;
        for (std::size_t i = 0; i < dx.size(); i += 5) {
            constexpr double h = 1e-5;
            const double value = layer.x[i];
            layer.x[i] = value + h;
            const double up = layer.train();
            layer.x[i] = value - h;
            const double down = layer.train();
            layer.x[i] = value;
            INFO("x " << i);
            CHECK(dx[i] == Approx((up - down) / (2 * h)).epsilon(1e-6).margin(1e-8));
        }
    }
}

TEST_CASE("float experts are the double ones, with the same bits on one, two and three threads") {
    for (const NamedExperts& named : named_experts()) {
        INFO(named.name);
        ExpertLayer exact = layer_of(named), plain = layer_of(named, DType::f32);
        set_rows(exact, named);
        set_rows(plain, named);
        CHECK(plain.train() == Approx(exact.train()).epsilon(1e-5).margin(1e-5));
        const auto gradients = plain.gradients(), expected = exact.gradients();
        double error = 0, size = 0;
        for (std::size_t i = 0; i < expected.size(); ++i) {
            error += std::pow(gradients[i] - expected[i], 2);
            size += std::pow(expected[i], 2);
        }
        CHECK(error < 1e-9 * size);
        for (const int threads : {2, 3}) {
            ExpertLayer other = layer_of(named, DType::f32, threads);
            set_rows(other, named);
            other.train();
            CHECK((other.out == plain.out));
            CHECK((other.dx == plain.dx));
            CHECK((other.gradients() == gradients));
            CHECK((other.auxiliary() == plain.auxiliary()));
        }
    }
}

TEST_CASE("one expert is the dense feed-forward part, bit for bit") {
    for (const Activation activation : {Activation::gelu_tanh, Activation::swiglu}) {
        const ExpertLayerShape shape{2, 150, 33, {512, activation, true}};
        ExpertsConfig config = dropless(1, 1);
        config.aux_weight = config.z_weight = 0;
        ExpertLayer layer(config, shape, DType::f32, 2);
        layer.train();

        Arena arena;
        ParameterTable table(arena, DType::f32);
        const Backend backend{Device::cpu, DType::f32, 2};
        const auto dense = plan_and_commit(arena, [&](Arena& a) {
            table = ParameterTable(a, DType::f32);
            return std::make_unique<FeedForward>(Planner{a, table, backend, Purpose::training, shape.B, shape.K},
                                                 shape.C, shape.feed_forward);
        });
        Exec exec = make_exec(backend, arena);
        const auto of_layer = [&](const std::string& name) {
            for (const Parameter& parameter : layer.table.all())
                if (parameter.name == "mlp.experts." + name.substr(4)) return parameter;
            return Parameter{};
        };
        for (const Parameter& parameter : table.all())
            ExpertLayer::set(parameter.value, ExpertLayer::as_doubles(of_layer(parameter.name).value));
        std::vector<float> x(layer.x.begin(), layer.x.end()), out(x.size()),
            dx(layer.out_weight.begin(), layer.out_weight.end());
        const auto tensor = [&](std::vector<float>& values) {
            return make_tensor(values.data(), DType::f32, {shape.B, shape.K, shape.C});
        };
        dense->forward(exec, tensor(out), tensor(x));
        CHECK((std::vector<double>(out.begin(), out.end()) == layer.out));
        dense->backward(exec, tensor(dx), tensor(dx), tensor(x), Accumulate::no);
        CHECK((std::vector<double>(dx.begin(), dx.end()) == layer.dx));
        for (const Parameter& parameter : table.all()) {
            INFO(parameter.name);
            CHECK((ExpertLayer::as_doubles(parameter.grad) == ExpertLayer::as_doubles(of_layer(parameter.name).grad)));
        }
    }
}

TEST_CASE("renumbering experts with their gates changes nothing") {
    const Ints order = {2, 0, 3, 1};  // new expert e is the old order[e]
    for (const NamedExperts& named : named_experts()) {
        if (named.config.count != 4 || named.config.sampled_noise) continue;  // noise is drawn by the expert's number
        INFO(named.name);
        ExpertLayer first = layer_of(named), second = layer_of(named);
        for (std::size_t p = 0; p < first.table.all().size(); ++p) {
            const Tensor &from = first.table[p].value, &to = second.table[p].value;
            const std::int64_t of_expert = from.numel() / 4;
            for (std::int64_t i = 0; i < from.numel(); ++i)
                to.as<double>()[i] =
                    from.as<double>()[order[static_cast<std::size_t>(i / of_expert)] * of_expert + i % of_expert];
        }
        CHECK(second.train() == Approx(first.train()).epsilon(1e-12));
        check_close(second.out, first.out);
        check_close(second.dx, first.dx);
        for (std::size_t p = 0; p < first.table.all().size(); ++p) {
            const auto of_first = ExpertLayer::as_doubles(first.table[p].grad);
            const auto of_second = ExpertLayer::as_doubles(second.table[p].grad);
            const std::size_t of_expert = of_first.size() / 4;
            for (std::size_t i = 0; i < of_first.size(); ++i)
                REQUIRE(of_second[i] ==
                        Approx(of_first[static_cast<std::size_t>(order[i / of_expert]) * of_expert + i % of_expert])
                            .epsilon(1e-9)
                            .margin(1e-12));
        }
    }
}

TEST_CASE("a row's experts do not depend on the other rows where nothing is dropped, nor does a sum over samples") {
    for (const std::int64_t top : {1, 2}) {
        ExpertsConfig config = dropless(4, top);
        config.aux_weight = config.z_weight = 0;
        config.sampled_noise = true;
        config.jitter = 0.1;
        ExpertLayer layer(config, {3, 7, 6, {5}});
        const double loss = layer.train();
        const auto out = layer.out, gradients = layer.gradients();
        const double first = layer.train(0, 1);
        CHECK((layer.out == std::vector<double>(out.begin(), out.begin() + 7 * 6)));
        const double rest = layer.train(1, 2, Accumulate::yes);
        check_close(layer.out, std::vector<double>(out.begin() + 7 * 6, out.end()));
        CHECK(first + rest == Approx(loss).epsilon(1e-12));
        check_close(layer.gradients(), gradients);
    }
}

TEST_CASE("a pass that scores drops nothing and draws nothing") {
    ExpertsConfig config = dropless(4, 2);
    config.capacity_factor = 0.3;
    config.min_capacity = 0;
    config.sampled_noise = true;
    config.jitter = 0.3;
    ExpertLayer limited(config), free(dropless(4, 2));
    limited.train();
    CHECK(dropped(limited) > 0);
    limited.draw.clear();
    limited.train();
    CHECK(dropped(limited) == 0);
    free.train();
    CHECK((limited.out == free.out));
}

TEST_CASE("noise depends on seed, step, layer and draw, not on a sample's place") {
    ExpertsConfig config = dropless(8, 1);
    config.sampled_noise = true;
    ExpertLayer layer(config, {2, 40, 6, {5}});
    std::copy_n(layer.x.begin(), 40 * 6, layer.x.begin() + 40 * 6);  // one sample twice
    layer.draw = {5, 5};
    layer.train();
    const std::vector<double> first(layer.out.begin(), layer.out.begin() + 40 * 6);
    CHECK((std::vector<double>(layer.out.begin() + 40 * 6, layer.out.end()) == first));
    layer.draw = {5, 6};
    layer.train();
    CHECK((std::vector<double>(layer.out.begin(), layer.out.begin() + 40 * 6) == first));
    CHECK((std::vector<double>(layer.out.begin() + 40 * 6, layer.out.end()) != first));
}

TEST_CASE("padding is never routed, and changes nothing, whatever values it has") {
    for (const bool packed : {false, true}) {
        ExpertsConfig config = dropless(4, 2);
        config.capacity_factor = 0.7;
        ExpertLayer layer(config, {3, 7, 6, {5}});
        layer.length = {4, 0, 6};
        layer.train();
        const auto out = layer.out, gradients = layer.gradients();
        CHECK(layer.experts->chosen().as<std::int32_t>()[4] == 10);
        for (std::size_t i = 0; i < out.size(); ++i) {
            const std::size_t row = i / 6 % 7, sample = i / 42;
            if (row >= static_cast<std::size_t>(layer.length[sample])) CHECK(out[i] == 0);
        }
        if (!packed) {
            for (std::size_t i = 4 * 6; i < 14 * 6; ++i) layer.x[i] = 1e3;
            layer.train();
            CHECK((layer.out == out));
            CHECK((layer.gradients() == gradients));
            continue;
        }
        // The real rows alone, one sample after the other.
        std::vector<double> x, weight, real;
        for (std::size_t i = 0; i < out.size(); ++i) {
            if (i / 6 % 7 >= static_cast<std::size_t>(layer.length[i / 42])) continue;
            x.push_back(layer.x[i]);
            weight.push_back(layer.out_weight[i]);
            real.push_back(out[i]);
        }
        std::copy(x.begin(), x.end(), layer.x.begin());
        std::copy(weight.begin(), weight.end(), layer.out_weight.begin());
        layer.length.clear();
        layer.start = {0, 4, 4, 10};
        layer.train();
        check_close(layer.out, real);
        check_close(layer.gradients(), gradients);
    }
}

TEST_CASE("what an activation of experts put out is computed again to the same bits") {
    for (const Activation activation : {Activation::gelu_tanh, Activation::gelu_erf, Activation::swiglu}) {
        ExpertLayer layer(dropless(3, 2), {2, 33, 17, {70, activation, true}}, DType::f32, 2);
        const RoutingRows rows = layer.routing(0, 2);
        std::vector<float> x(layer.x.begin(), layer.x.end()), out(x.size());
        const auto tensor = [&](std::vector<float>& values) {
            return make_tensor(values.data(), DType::f32, {2, 33, 17});
        };
        const auto gradients = [&](bool recomputes) {
            std::vector<float> dx(layer.out_weight.begin(), layer.out_weight.end());
            recomputes ? layer.experts->forward_hidden(layer.exec, tensor(x), rows)
                       : layer.experts->forward(layer.exec, tensor(out), tensor(x), rows);
            if (recomputes) layer.experts->recompute_activation(layer.exec, tensor(x));
            layer.experts->backward(layer.exec, tensor(dx), tensor(dx), tensor(x), rows, 1, Accumulate::no);
            return layer.gradients();
        };
        const auto plain = gradients(false);
        CHECK((gradients(true) == plain));
    }
}

TEST_CASE("experts start apart, and count the FLOPs of those that a row takes") {
    const ExpertLayer layer(dropless(4, 2), {2, 3, 6, {5}});
    const Parameter& weight = layer.table[1];
    REQUIRE(weight.name == "mlp.experts.c_fc.weight");
    for (int e = 1; e < 4; ++e)
        CHECK_FALSE(
            std::equal(weight.value.as<double>(), weight.value.as<double>() + 30, weight.value.as<double>() + e * 30));
    const double of_expert = 6 * 5 + 5 + 5 * 6 + 6;
    CHECK(layer.experts->flops().per_row == 6 * (2 * of_expert + 4 * 6));
    ExpertsConfig residual = dropless(4, 1);
    residual.residual = true;
    const ExpertLayer mixed(residual, {2, 3, 6, {5}});
    CHECK(mixed.experts->flops().per_row == 6 * (2 * of_expert + 4 * 6 + 2 * 6 + 2));
}
