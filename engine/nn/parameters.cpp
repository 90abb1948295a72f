#include "engine/nn/parameters.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>

#include "base/sha256.h"
#include "engine/core/exec.h"
#include "engine/core/ops.h"
#include "kernels/cpu/parallel.h"
#include "kernels/philox.h"

namespace deft::engine {

namespace {

constexpr const char* kMoments[] = {"optimizer.m", "optimizer.v"};

}  // namespace

bool is_decayed(ParameterKind kind) {
    return kind != ParameterKind::norm && kind != ParameterKind::bias;
}

Parameter ParameterTable::add(const std::string& name, ParameterKind kind,
                              std::initializer_list<std::int64_t> shape) {
    const Side side = is_decayed(kind) ? Side::front : Side::back;
    Parameter parameter{name, kind, {}, {}, {}};
    parameter.value = arena_->add(Region::parameters, name, sum_dtype(dtype_), shape, side);
    if (purpose_ == Purpose::training)
        parameter.grad = arena_->add(Region::gradients, name + ".grad", sum_dtype(dtype_), shape, side);
    parameter.compute =
        rounds() ? arena_->add(Region::rounded, name + ".rounded", dtype_, shape, side) : parameter.value;
    parameters_.push_back(parameter);
    return parameter;
}

std::int64_t ParameterTable::plan_optimizer(int moments) {
    if (purpose_ == Purpose::inference) return 0;
    const DType dtype = sum_dtype(dtype_);
    const std::int64_t padded = arena_->flat(Region::parameters, dtype).numel();
    moments_ = moments;
    for (const char* name : std::span(kMoments).first(static_cast<std::size_t>(moments)))
        arena_->add(Region::optimizer, name, dtype, {padded});
    return padded;
}

std::int64_t ParameterTable::count() const {
    std::int64_t elements = 0;
    for (const Parameter& parameter : parameters_) elements += parameter.value.numel();
    return elements;
}

namespace {

constexpr std::int64_t kDrawnAtOnce = 1 << 14;

// What tells the draws of one weight from those of another: 48 bits of its name's sha256, as many as a counter has room
// for.
std::uint64_t key_of(const std::string& name) {
    return std::stoull(sha256(name).substr(0, 12), nullptr, 16);
}

void fill(Exec& exec, const Parameter& parameter, std::uint64_t seed, double std) {
    const std::uint64_t key = key_of(parameter.name);
    const auto value_of = [&](std::int64_t i) -> double {
        if (parameter.kind == ParameterKind::norm) return 1;
        if (parameter.kind == ParameterKind::bias) return 0;
        return std * kernels::philox_normal(kernels::philox_block(seed, kernels::RandomPurpose::init, key & 0xFFFFFFFFu,
                                                                  static_cast<std::uint32_t>(key >> 32),
                                                                  static_cast<std::uint64_t>(i >> 32),
                                                                  static_cast<std::uint32_t>(i)));
    };
    // Rounded to float first, so that a double model starts from the float model's values.
    const std::int64_t n = parameter.value.numel();
    const auto draw = [&](auto* values) {
        kernels::cpu::parallel_items(exec.cpu.threads, kernels::ceil_div(n, kDrawnAtOnce), [&](std::int64_t item, int) {
            const std::int64_t end = std::min(n, (item + 1) * kDrawnAtOnce);
            for (std::int64_t i = item * kDrawnAtOnce; i < end; ++i) values[i] = static_cast<float>(value_of(i));
        });
    };
    const auto write = [&]<class Real>(Real) {
        if (exec.device == Device::cpu) return draw(parameter.value.as<Real>());
        std::vector<Real> values(static_cast<std::size_t>(n));
        draw(values.data());
        write_tensor(exec, parameter.value, values.data());
    };
    parameter.value.dtype == DType::f64 ? write(double{}) : write(float{});
}

}  // namespace

std::vector<ParameterTable::Group> ParameterTable::groups() const {
    const DType dtype = sum_dtype(dtype_);
    std::vector<Group> result;
    for (const Side side : {Side::front, Side::back}) {
        const Tensor value = arena_->flat(Region::parameters, dtype, side);
        if (value.numel() == 0) continue;
        result.push_back({value, arena_->flat(Region::gradients, dtype, side), moment(value, 0), moment(value, 1),
                          rounds() ? arena_->flat(Region::rounded, dtype_, side) : Tensor{}, side == Side::front});
    }
    return result;
}

void ParameterTable::refresh_rounded(Exec& exec) const {
    if (rounds()) round_to(exec, arena_->flat(Region::rounded, dtype_), arena_->flat(Region::parameters, DType::f32));
}

Tensor ParameterTable::moment(const Tensor& values, int which) const {
    if (which >= moments_) return {};
    // Region::optimizer holds m then v, each laid out as the parameters are.
    const Tensor all = arena_->flat(Region::parameters, values.dtype);
    Tensor result = values;
    result.data = static_cast<char*>(arena_->flat(Region::optimizer, values.dtype).data) + which * all.bytes() +
                  (static_cast<const char*>(values.data) - static_cast<const char*>(all.data));
    return result;
}

void initialise(Exec& exec, ParameterTable& table, std::uint64_t seed, double std, std::int64_t layers) {
    for (const Parameter& parameter : table.all()) {
        // GPT-2 (Radford et al. 2019, section 2.3): residual projections are scaled by 1/sqrt(number of residual
        // layers).
        const double scale =
            parameter.kind == ParameterKind::residual ? 1 / std::sqrt(2.0 * static_cast<double>(layers)) : 1.0;
        fill(exec, parameter, seed, std * scale);
    }
    table.refresh_rounded(exec);
}

}  // namespace deft::engine
