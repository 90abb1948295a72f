#pragma once
// The parameter table: every weight by name, kind and shape, in flat buffers for values, gradients and moments.

#include <cstdint>
#include <string>
#include <vector>

#include "engine/comm/communicator.h"
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

// The purpose that a model's buffers are planned for: training, or inference with the weights that it has.
enum class Purpose { training, inference };

struct Parameter {
    std::string name;
    ParameterKind kind = ParameterKind::matrix;
    Tensor value, grad;            // same shape; empty where a part has no such weight
    Tensor compute;                // what the model reads: `value`, or its rounding where activations are bf16
    std::int64_t stored_rows = 0;  // of a vocabulary's table: rows of zeros follow its own, of `grad` too; else 0
    bool unrounded = false;        // it reads `value` whatever activations are
    bool of_experts = false;
    // For weights of experts that are divided among ranks: the element of the complete weight that
    // this rank's part begins with.
    bool is_divided = false;
    std::int64_t first = 0, experts = 0;  // experts: of all ranks

    // Elements including the rows of zeros after them.
    std::int64_t stored_elements() const { return stored_rows == 0 ? value.numel() : stored_rows * value.columns(); }
    // Its shape on all ranks together, without memory.
    Tensor whole() const;
};

// The moments that an optimizer keeps of each weight.
struct KeptMoments {
    int count = 2;             // one or two
    bool are_rounded = false;  // to bf16; else they have the type of the weights

    DType dtype(DType of_weights) const { return are_rounded ? DType::bf16 : of_weights; }
};

// Decayed parameters and the others are each one contiguous range of the flat buffers, in whatever order they are
// added; of those that are divided among ranks likewise.
class ParameterTable {
 public:
    // dtype: of activations. Values and gradients are sum_dtype(dtype), and moments where they are not rounded; a model
    // that is only asked has neither gradients nor moments.
    ParameterTable(Arena& arena, DType dtype, Purpose purpose = Purpose::training)
        : arena_(&arena), dtype_(dtype), purpose_(purpose) {}

    // The parameter, without memory in the first pass of a plan.
    Parameter add(const std::string& name, ParameterKind kind, std::initializer_list<std::int64_t> shape);
    // The table of a vocabulary (V, C) with rows of zeros after it up to `stored_rows`. They are in no count, norm or
    // file: no gradient reaches them.
    Parameter add_vocabulary(const std::string& name, std::int64_t V, std::int64_t C, std::int64_t stored_rows);
    // A parameter that is read as it is updated, never rounded.
    Parameter add_unrounded(const std::string& name, ParameterKind kind, std::initializer_list<std::int64_t> shape);

    // Its first dimension counts experts, of which that rank has its share.
    Parameter add_experts(const std::string& name, ParameterKind kind, std::initializer_list<std::int64_t> shape,
                          const RankOf& rank);

    // Plans the optimizer's moments once all parameters are there, where they train: of `owner`'s share of each group
    // alone, where moments are shared among ranks; of the divided ones likewise.
    void plan_optimizer(const KeptMoments& kept, const RankOf& owner = {}, const RankOf& owner_of_divided = {});

    // In the order of adding.
    const std::vector<Parameter>& all() const { return parameters_; }
    const Parameter& operator[](std::size_t i) const { return parameters_[i]; }

    std::int64_t count() const;  // elements of all parameters, padding excluded

    // The flat range of the decayed parameters and that of the others, then those of the divided ones; without the
    // empty.
    struct Group {
        Tensor value, grad;  // (n)
        Share own;           // of the n, those with moments here
        Tensor m;            // (own)
        Tensor v;            // (own); empty where there is one moment
        Tensor rounded;      // (n); empty where the model reads `value`
        bool decayed, is_divided;
    };
    std::vector<Group> groups() const;
    int moments() const { return static_cast<int>(moments_.size()); }  // that the optimizer keeps of each weight
    // Among how many ranks moments of undivided parameters are shared, and which of them this is.
    const RankOf& owner() const { return owner_; }
    // The owner of that parameter; of a divided one among the ranks that have the same experts.
    const RankOf& owner_of(const Parameter& parameter) const;
    // The elements of a parameter whose moments belong to that rank.
    Share elements_of_rank(const Parameter& parameter, int rank) const;
    // Moments of the elements that are this rank's, flat; the second is empty where there is one.
    Tensor own_moment(const Parameter& parameter, int which) const;
    // The moments of one parameter, in its shape, where they are not shared; the second is empty where there is one.
    Tensor first_moment(const Parameter& parameter) const { return whole_moment(parameter, 0); }
    Tensor second_moment(const Parameter& parameter) const { return whole_moment(parameter, 1); }
    Tensor flat_gradients() const { return arena_->flat(Region::gradients, sum_dtype(dtype_)); }
    // Rounds every value again; for use after values were written from outside.
    void refresh_rounded(Exec& exec) const;

 private:
    bool rounds() const { return dtype_ != sum_dtype(dtype_); }
    Parameter planned(const std::string& name, ParameterKind kind, std::initializer_list<std::int64_t> shape,
                      Side side);
    const RankOf& owner_of(Side side) const;
    std::int64_t first_element(const Parameter& parameter) const;
    std::int64_t elements(Side side) const;
    Share share_of_rank(Side side, int rank) const;
    Tensor moment(Side side, int which) const;
    Tensor whole_moment(const Parameter& parameter, int which) const;

    Arena* arena_;
    DType dtype_;
    Purpose purpose_;
    RankOf owner_, owner_of_divided_;
    std::vector<Tensor> moments_;  // each: the owner's share of each group, in their order
    std::vector<Parameter> parameters_;
};

// Values by kind from Philox keyed by (seed, name, element): the same on every backend, and of a weight whatever others
// the model has. std: of a normal distribution; layers: of the model, whose residual projections have smaller values.
// The host draws with initialisation_threads(); the number of threads changes no bit.
void initialise(Exec& exec, ParameterTable& table, std::uint64_t seed, double std, std::int64_t layers);
void initialise(Exec& exec, ParameterTable& table, std::uint64_t seed, double std, std::int64_t layers, int threads);
// On a CPU the trial's threads; on a GPU all cores that the process may use.
int initialisation_threads(const Exec& exec);

}  // namespace deft::engine
