#pragma once
// The context for planning a model's parts: where weights and buffers come from, how large a micro-batch is, and what
// the buffers are for.

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "engine/comm/communicator.h"
#include "engine/core/arena.h"
#include "engine/core/backend.h"
#include "engine/core/workspace.h"
#include "engine/nn/parameters.h"

namespace deft::engine {

// The parts of a block that the backward pass recomputes, to the same bits, instead of keeping them.
enum class Recompute {
    none,
    activation,  // what norms and activations put out
    block,       // all but the block's input
};

// Ranks among which a model's parts are divided, and which of them this is.
struct ModelRanks {
    RankOf moments = {};          // of weights that all ranks have
    RankOf divided_moments = {};  // of the experts' weights, where ranks divide the experts
    RankOf experts = {};          // the experts of each layer
    // Communicators of these ranks, for rows and for their counts; alone where nothing is computed.
    Communicator expert_rows = {}, expert_counts = {};
};

// Samples that ranks which divide the experts each evaluate at once, of B that they train on: all rows may choose the
// experts of one rank.
inline std::int64_t samples_at_once(std::int64_t B, const ModelRanks& ranks) {
    return std::max<std::int64_t>(1, B / ranks.experts.ranks);
}

struct Planner {
    Arena& arena;
    ParameterTable& parameters;
    Backend backend;
    Purpose purpose = Purpose::training;
    std::int64_t B = 1, T = 1;  // the largest micro-batch: samples, tokens of each

    ModelRanks ranks = {};
    std::string prefix = {};  // of the names of what is planned: "h.3."
    // Whether what a part saves, and what it could compute again from that, is its own until the backward pass; else
    // the next block takes its place.
    bool keeps = true, keeps_outputs = true;

    std::int64_t rows() const { return B * T; }
    DType sums() const { return sum_dtype(backend.dtype); }
    bool trains() const { return purpose == Purpose::training; }

    Parameter weight(const std::string& name, ParameterKind kind, std::initializer_list<std::int64_t> shape) const {
        return parameters.add(prefix + name, kind, shape);
    }
    // A table (V, C) of tokens, followed by as many rows of zeros as make the backend's products fast.
    Parameter vocabulary_weight(const std::string& name, std::int64_t V, std::int64_t C) const {
        return parameters.add_vocabulary(prefix + name, V, C, vocabulary_rows(backend, V));
    }
    // A weight for an op that reads weights in the type that they are updated in.
    Parameter unrounded_weight(const std::string& name, ParameterKind kind,
                               std::initializer_list<std::int64_t> shape) const {
        return parameters.add_unrounded(prefix + name, kind, shape);
    }
    // As weight(), of which each rank has its share of the first dimension, by experts.
    Parameter expert_weight(const std::string& name, ParameterKind kind,
                            std::initializer_list<std::int64_t> shape) const {
        return parameters.add_experts(prefix + name, kind, shape, ranks.experts);
    }
    // A tensor that a forward pass saves for the backward pass, of the activations' type.
    Tensor saved(const std::string& name, std::initializer_list<std::int64_t> shape) const {
        return saved(name, backend.dtype, shape);
    }
    Tensor saved(const std::string& name, DType dtype, std::initializer_list<std::int64_t> shape) const {
        if (keeps) return arena.add(Region::activations, prefix + name, dtype, shape);
        return arena.add_shared("shared." + name, dtype, shape);
    }
    // A saved output of a norm or an activation.
    Tensor saved_output(const std::string& name, std::initializer_list<std::int64_t> shape) const {
        return keeps_outputs ? saved(name, shape) : arena.add_shared("shared." + name, backend.dtype, shape);
    }
    // A temporary tensor: parts that name it use it in turn.
    Tensor scratch(const std::string& name, std::initializer_list<std::int64_t> shape) const {
        return arena.add_shared("scratch." + name, backend.dtype, shape);
    }
};

// Forward and backward FLOPs of one sample of n rows: per_row n + per_pair n^2 + per_sample, where per_row is 6 for
// each parameter that a row meets, per_sample likewise of what meets a sample once, and per_pair counts attention
// (Kaplan et al. 2020, section 2.1).
struct TrainingFlops {
    double per_row = 0, per_pair = 0, per_sample = 0;

    double of(std::int64_t rows) const {
        const auto n = static_cast<double>(rows);
        return per_row * n + per_pair * n * n + per_sample;
    }
    TrainingFlops operator+(const TrainingFlops& other) const {
        return {per_row + other.per_row, per_pair + other.per_pair, per_sample + other.per_sample};
    }
};

inline TrainingFlops flops_of_parameters(std::initializer_list<Parameter> parameters) {
    TrainingFlops flops;
    for (const Parameter& parameter : parameters) flops.per_row += 6.0 * static_cast<double>(parameter.value.numel());
    return flops;
}

}  // namespace deft::engine
