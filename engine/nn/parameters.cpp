#include "engine/nn/parameters.h"

#include <cmath>
#include <stdexcept>

#include "engine/core/exec.h"
#include "engine/core/ops.h"
#include "kernels/philox.h"

namespace deft::engine {

bool is_decayed(ParameterKind kind) {
    return kind != ParameterKind::norm && kind != ParameterKind::bias;
}

std::size_t ParameterTable::add(const std::string& name, ParameterKind kind,
                                std::initializer_list<std::int64_t> shape) {
    if (is_decayed(kind) && !parameters_.empty() && !is_decayed(parameters_.back().kind))
        throw std::logic_error("decayed parameters must be added before the others: " + name);
    Parameter parameter{name, kind, {}, {}, {}};
    parameter.value = arena_->add(Region::parameters, name, sum_dtype(dtype_), shape);
    if (purpose_ == Purpose::training)
        parameter.grad = arena_->add(Region::gradients, name + ".grad", sum_dtype(dtype_), shape);
    parameter.compute = rounds() ? arena_->add(Region::rounded, name + ".rounded", dtype_, shape) : parameter.value;
    parameters_.push_back(parameter);
    return parameters_.size() - 1;
}

std::int64_t ParameterTable::plan_optimizer() {
    if (purpose_ == Purpose::inference) return 0;
    const DType dtype = sum_dtype(dtype_);
    const std::int64_t padded = arena_->flat(Region::parameters, dtype).numel();
    arena_->add(Region::optimizer, "adam.m", dtype, {padded});
    arena_->add(Region::optimizer, "adam.v", dtype, {padded});
    return padded;
}

const Parameter& ParameterTable::find(const std::string& name) const {
    for (const Parameter& parameter : parameters_)
        if (parameter.name == name) return parameter;
    throw std::logic_error("no parameter named " + name);
}

std::int64_t ParameterTable::count() const {
    std::int64_t elements = 0;
    for (const Parameter& parameter : parameters_) elements += parameter.value.numel();
    return elements;
}

namespace {

std::int64_t elements_between(const void* begin, const Tensor& end) {
    return (static_cast<const char*>(end.data) - static_cast<const char*>(begin)) / size_of(end.dtype);
}

// Elements [from, to) of `flat`.
Tensor range(const Tensor& flat, std::int64_t from, std::int64_t to) {
    return make_tensor(static_cast<char*>(flat.data) + from * size_of(flat.dtype), flat.dtype, {to - from});
}

void fill(Exec& exec, const Parameter& parameter, std::uint64_t seed, std::uint32_t index, double std) {
    const auto value_of = [&](std::int64_t i) -> double {
        if (parameter.kind == ParameterKind::norm) return 1;
        if (parameter.kind == ParameterKind::bias) return 0;
        return std * kernels::philox_normal(kernels::philox_block(seed, kernels::RandomPurpose::init, 0, index,
                                                                  static_cast<std::uint64_t>(i >> 32),
                                                                  static_cast<std::uint32_t>(i)));
    };
    // Rounded to float first, so that a double model starts from the float model's values.
    const auto write = [&]<class Real>(Real) {
        std::vector<Real> values(static_cast<std::size_t>(parameter.value.numel()));
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = static_cast<float>(value_of(static_cast<std::int64_t>(i)));
        write_tensor(exec, parameter.value, values.data());
    };
    parameter.value.dtype == DType::f64 ? write(double{}) : write(float{});
}

}  // namespace

std::vector<ParameterTable::Group> ParameterTable::groups() const {
    std::size_t first_plain = 0;
    while (first_plain < parameters_.size() && is_decayed(parameters_[first_plain].kind)) ++first_plain;
    const bool split = first_plain < parameters_.size();
    const DType dtype = sum_dtype(dtype_);
    const Tensor value = arena_->flat(Region::parameters, dtype), grad = arena_->flat(Region::gradients, dtype);
    // Region::optimizer holds m then v, each laid out as the parameters are.
    const Tensor moments = arena_->flat(Region::optimizer, dtype);
    const Tensor m = moments.view({value.numel()});
    const Tensor v = make_tensor(static_cast<char*>(moments.data) + value.bytes(), dtype, {value.numel()});
    const Tensor rounded = rounds() ? arena_->flat(Region::rounded, dtype_) : Tensor{};

    // The elements before the first that is not decayed, or those from it on.
    const std::int64_t boundary = split ? elements_between(value.data, parameters_[first_plain].value) : value.numel();
    const auto part = [&](const Tensor& flat, bool decayed) {
        if (!flat) return Tensor{};
        return decayed ? range(flat, 0, boundary) : range(flat, boundary, value.numel());
    };
    const auto group = [&](bool decayed) {
        return Group{part(value, decayed), part(grad, decayed), part(m, decayed),
                     part(v, decayed),     part(rounded, decayed), decayed};
    };
    std::vector<Group> result{group(true)};
    if (split) result.push_back(group(false));
    return result;
}

void ParameterTable::refresh_rounded(Exec& exec) const {
    if (rounds()) round_to(exec, arena_->flat(Region::rounded, dtype_), arena_->flat(Region::parameters, DType::f32));
}

Tensor ParameterTable::moment(const Parameter& parameter, int which) const {
    const DType dtype = sum_dtype(dtype_);
    const Tensor values = arena_->flat(Region::parameters, dtype), moments = arena_->flat(Region::optimizer, dtype);
    Tensor result = parameter.value;
    result.data = static_cast<char*>(moments.data) + which * values.bytes() +
                  (static_cast<const char*>(parameter.value.data) - static_cast<const char*>(values.data));
    return result;
}

void initialise(Exec& exec, ParameterTable& table, std::uint64_t seed, double std, std::int64_t layers) {
    for (std::size_t i = 0; i < table.all().size(); ++i) {
        const Parameter& parameter = table[i];
        // GPT-2 (Radford et al. 2019, section 2.3): residual projections are scaled by 1/sqrt(number of residual
        // layers).
        const double scale =
            parameter.kind == ParameterKind::residual ? 1 / std::sqrt(2.0 * static_cast<double>(layers)) : 1.0;
        fill(exec, parameter, seed, static_cast<std::uint32_t>(i), std * scale);
    }
    table.refresh_rounded(exec);
}

}  // namespace deft::engine
