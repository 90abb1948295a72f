#include "engine/nn/parameters.h"

#include <cmath>
#include <stdexcept>

#include "kernels/philox.h"

namespace deft::engine {

bool is_decayed(ParameterKind kind) {
    return kind != ParameterKind::norm && kind != ParameterKind::bias;
}

std::size_t ParameterTable::add(const std::string& name, ParameterKind kind,
                                std::initializer_list<std::int64_t> shape) {
    if (is_decayed(kind) && !parameters_.empty() && !is_decayed(parameters_.back().kind))
        throw std::logic_error("decayed parameters must be added before the others: " + name);
    Parameter parameter{name, kind, {}, {}};
    parameter.value = arena_->add(Region::parameters, name, dtype_, shape);
    parameter.grad = arena_->add(Region::gradients, name + ".grad", dtype_, shape);
    parameters_.push_back(parameter);
    return parameters_.size() - 1;
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

// The elements of `flat` from `begin` to the start of `end`, or to its own end where `end` is null.
Tensor range(const Tensor& flat, const void* begin, const void* end) {
    const std::int64_t width = size_of(flat.dtype);
    const std::int64_t from = (static_cast<const char*>(begin) - static_cast<const char*>(flat.data)) / width;
    const std::int64_t to =
        end == nullptr ? flat.numel() : (static_cast<const char*>(end) - static_cast<const char*>(flat.data)) / width;
    return make_tensor(static_cast<char*>(flat.data) + from * width, flat.dtype, {to - from});
}

void fill(Tensor tensor, const Parameter& parameter, std::uint64_t seed, std::uint32_t index, double std) {
    const auto value_of = [&](std::int64_t i) -> double {
        if (parameter.kind == ParameterKind::norm) return 1;
        if (parameter.kind == ParameterKind::bias) return 0;
        return std * kernels::philox_normal(kernels::philox_block(seed, kernels::RandomPurpose::init, 0, index,
                                                                  static_cast<std::uint64_t>(i >> 32),
                                                                  static_cast<std::uint32_t>(i)));
    };
    // Rounded to float first, so that a double model starts from the float model's values.
    for (std::int64_t i = 0; i < tensor.numel(); ++i) {
        const float value = static_cast<float>(value_of(i));
        if (tensor.dtype == DType::f32) tensor.as<float>()[i] = value;
        if (tensor.dtype == DType::f64) tensor.as<double>()[i] = value;
    }
}

}  // namespace

std::vector<ParameterTable::Group> ParameterTable::groups() const {
    std::size_t first_plain = 0;
    while (first_plain < parameters_.size() && is_decayed(parameters_[first_plain].kind)) ++first_plain;
    const bool split = first_plain < parameters_.size();
    const Tensor value = arena_->flat(Region::parameters, dtype_), grad = arena_->flat(Region::gradients, dtype_);
    // Region::optimizer holds m then v, each laid out as the parameters are.
    const Tensor moments = arena_->flat(Region::optimizer, dtype_);
    const Tensor m = moments.view({value.numel()});
    const Tensor v = make_tensor(static_cast<char*>(moments.data) + value.bytes(), dtype_, {value.numel()});

    const auto shifted = [&](const Tensor& flat) -> const void* {
        if (!split) return nullptr;
        const auto offset =
            static_cast<const char*>(parameters_[first_plain].value.data) - static_cast<char*>(value.data);
        return static_cast<const char*>(flat.data) + offset;
    };
    const auto part = [&](const Tensor& flat, bool decayed) {
        return decayed ? range(flat, flat.data, shifted(flat)) : range(flat, shifted(flat), nullptr);
    };
    std::vector<Group> result{{part(value, true), part(grad, true), part(m, true), part(v, true), true}};
    if (split) result.push_back({part(value, false), part(grad, false), part(m, false), part(v, false), false});
    return result;
}

Tensor ParameterTable::moment(const Parameter& parameter, int which) const {
    const Tensor values = arena_->flat(Region::parameters, dtype_), moments = arena_->flat(Region::optimizer, dtype_);
    Tensor result = parameter.value;
    result.data = static_cast<char*>(moments.data) + which * values.bytes() +
                  (static_cast<const char*>(parameter.value.data) - static_cast<const char*>(values.data));
    return result;
}

void initialise(ParameterTable& table, std::uint64_t seed, double std, std::int64_t layers) {
    for (std::size_t i = 0; i < table.all().size(); ++i) {
        const Parameter& parameter = table[i];
        // GPT-2 (Radford et al. 2019, section 2.3): residual projections are scaled by 1/sqrt(number of residual
        // layers).
        const double scale =
            parameter.kind == ParameterKind::residual ? 1 / std::sqrt(2.0 * static_cast<double>(layers)) : 1.0;
        fill(parameter.value, parameter, seed, static_cast<std::uint32_t>(i), std * scale);
    }
}

}  // namespace deft::engine
