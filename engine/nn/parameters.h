#pragma once
// The parameter table: every weight by name, kind and shape, in flat buffers for values, gradients and moments.

#include <cstdint>
#include <string>
#include <vector>

#include "engine/core/arena.h"
#include "engine/core/exec.h"

namespace deft::engine {

// Decides initialisation and weight decay.
enum class ParameterKind {
    matrix,     // linear weight: N(0, std), decayed
    residual,   // linear weight that writes to the residual stream: N(0, std / sqrt(2 L)), decayed
    embedding,  // N(0, std), decayed
    norm,       // LayerNorm weight: 1, not decayed
    bias,       // 0, not decayed
};

bool is_decayed(ParameterKind kind);

// What a model's buffers are planned for: to be trained, or to be asked with the weights that it has.
enum class Purpose { training, inference };

struct Parameter {
    std::string name;
    ParameterKind kind = ParameterKind::matrix;
    Tensor value, grad;  // same shape; empty where a part has no such weight
    Tensor compute;      // what the model reads: `value`, or its rounding where activations are bf16
};

// Decayed parameters and the others are each one contiguous range of the flat buffers, in whatever order they are added.
class ParameterTable {
 public:
    // dtype: of activations. Values, gradients and moments are sum_dtype(dtype); a model that is only asked has neither
    // gradients nor moments.
    ParameterTable(Arena& arena, DType dtype, Purpose purpose = Purpose::training)
        : arena_(&arena), dtype_(dtype), purpose_(purpose) {}

    // The parameter, without memory behind it in the first pass of a plan.
    Parameter add(const std::string& name, ParameterKind kind, std::initializer_list<std::int64_t> shape);

    // Plans the optimizer's moments, one or two, once all parameters are there, where they train; returns the elements
    // of each, padding included, or 0.
    std::int64_t plan_optimizer(int moments);

    // In the order of adding.
    const std::vector<Parameter>& all() const { return parameters_; }
    const Parameter& operator[](std::size_t i) const { return parameters_[i]; }

    std::int64_t count() const;  // elements of all parameters, padding excluded

    // The flat range of the decayed parameters and that of the others; one alone where the other is empty.
    struct Group {
        Tensor value, grad, m;
        Tensor v;  // empty where there is one moment
        Tensor rounded;  // empty where the model reads `value`
        bool decayed;
    };
    std::vector<Group> groups() const;
    // The moments of one parameter, in its shape; the second is empty where there is one.
    Tensor first_moment(const Parameter& parameter) const { return moment(parameter.value, 0); }
    Tensor second_moment(const Parameter& parameter) const { return moment(parameter.value, 1); }
    Tensor flat_gradients() const { return arena_->flat(Region::gradients, sum_dtype(dtype_)); }
    // Rounds every value anew; for after values were written from outside.
    void refresh_rounded(Exec& exec) const;

 private:
    bool rounds() const { return dtype_ != sum_dtype(dtype_); }
    Tensor moment(const Tensor& values, int which) const;

    Arena* arena_;
    DType dtype_;
    Purpose purpose_;
    int moments_ = 0;
    std::vector<Parameter> parameters_;
};

// Values by kind from Philox keyed by (seed, name, element): the same on every backend, and of a weight whatever others
// the model has.
void initialise(Exec& exec, ParameterTable& table, std::uint64_t seed, double std, std::int64_t layers);

}  // namespace deft::engine
