#pragma once
// A transformer of GPT-2's architecture: embedding, blocks, final norm, tied head. One forward and one backward, for
// every backend and dtype.

#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/ops.h"
#include "engine/nn/block.h"
#include "engine/nn/parameters.h"

namespace deft::engine {

struct TransformerConfig {
    std::int64_t layers = 4;
    std::int64_t width = 64;
    std::int64_t heads = 2;
    std::int64_t max_seqlen = 64;
    std::int64_t vocab = 257;
    double init_std = 0.02;
    bool causal = true;  // a position attends to itself and those before it; else to all

    std::int64_t hidden() const { return 4 * width; }
};

// Which tokens each layer takes in one micro-batch; the others pass it by unchanged. Layers in a row that take the same
// set share one gather and one scatter.
struct KeptTokens {
    static constexpr std::int32_t kEveryToken = -1;

    Tensor index;  // (sets, B, K) i32 ascending, where there is padding with the real tokens first; empty: none dropped
    std::span<const std::int32_t> set_of_layer;  // (layers), or kEveryToken

    std::int32_t set_of(std::int64_t layer) const;
    // What block `layer` does with the stream.
    BlockRows rows(std::int64_t layer) const;
};

// Samples (B, T) to be scored, of which each position that is not padding is computed once, and once for all samples
// that begin alike up to it. On the host.
struct PackedSamples {
    std::int64_t B = 0, T = 0;               // B T at most max_batch max_seqlen, T at most max_seqlen
    std::span<const std::int32_t> token;     // (B, T); what pads a sample on its right is any token
    std::span<const std::int32_t> computed;  // (M): the positions of (B T) that are computed
    std::span<const std::int32_t> source;    // (B, T): which of the M stands at each position; at padding any
    std::span<const std::int32_t> scored;    // (R), R at most B T: which of the M a loss is asked of
    std::span<const std::int32_t> target;    // (R)
};

class Transformer {
 public:
    // Plans every buffer for micro-batches of at most `max_batch` samples of max_seqlen tokens. Call inside a plan.
    // For inference there are no gradients, no moments, and the activations of one layer: evaluate() and logits() alone
    // may be called.
    Transformer(Arena& arena, const TransformerConfig& config, const Backend& backend, std::int64_t max_batch,
                Purpose purpose = Purpose::training);

    const TransformerConfig& config() const { return config_; }
    ParameterTable& parameters() { return parameters_; }
    const ParameterTable& parameters() const { return parameters_; }

    // Inputs of a micro-batch, (max_batch, max_seqlen) i32, which load() fills; use token.view({B, T}).
    Tensor token, target;
    // Loss of each position after a call below, (max_batch, max_seqlen), nats; greedy hits i32.
    Tensor loss, greedy;

    // Hands over the inputs (B, T) of the next micro-batch; they must stay as they are until a result is read.
    // lengths (B): real tokens of each sample, the rest being padding that no position attends to; null: all are real.
    // Errors: config, for a token outside the vocabulary or a length beyond T; a target may be kernels::kIgnoreTarget.
    void load(Exec& exec, std::int64_t B, std::int64_t T, const std::int32_t* tokens, const std::int32_t* targets,
              const std::int32_t* lengths = nullptr);
    // (B) i32 of the loaded micro-batch, empty where all tokens are real.
    const Tensor& length() const { return length_; }

    // Loss and gradients of a micro-batch: adds scale * d(sum of losses) to, or writes, every parameter's gradient.
    void forward_backward(Exec& exec, std::int64_t B, std::int64_t T, const KeptTokens& kept, double scale,
                          Accumulate accumulate);

    // Loss and greedy hits with every token in every layer.
    void evaluate(Exec& exec, std::int64_t B, std::int64_t T);

    // The same of causal attention for packed samples: R entries of loss and greedy, which view({1, R}) has.
    // Errors: as load().
    void evaluate(Exec& exec, const PackedSamples& samples);

    // Logits (B, T, V) of the last forward pass, for inspection: the training path never holds them.
    void logits(Exec& exec, Tensor out, std::int64_t B, std::int64_t T);

 private:
    void forward(Exec& exec, std::int64_t B, std::int64_t T, const KeptTokens& kept);
    void backward(Exec& exec, std::int64_t B, std::int64_t T, const KeptTokens& kept, Accumulate accumulate);
    void require_in_vocabulary(std::span<const std::int32_t> ids, std::int32_t lowest, const char* what) const;
    BlockTensors block_tensors(std::int64_t layer, Tensor Parameter::*field) const;
    Tensor tensor(std::size_t parameter, Tensor Parameter::*field) const { return parameters_[parameter].*field; }

    // The slot of the stream that a layer writes, and what it saves; for inference they are used in turn.
    const Tensor& stream(std::size_t slot) const { return stream_[slot % stream_.size()]; }
    const BlockSaved& saved(std::size_t layer) const { return saved_[layer % saved_.size()]; }

    TransformerConfig config_;
    Purpose purpose_;
    BlockShape shape_;
    ParameterTable parameters_;
    struct BlockIndices {
        std::size_t qkv, proj, fc, fc2;  // weights
        std::size_t ln1, ln1_b, qkv_b, proj_b, ln2, ln2_b, fc_b, fc2_b;
    };
    std::size_t wte_, wpe_, lnf_, lnf_b_;
    std::vector<BlockIndices> blocks_;

    // stream_[0] is the embedding. Each block takes the next slot: as its output, or with dropped tokens for its kept
    // input, the stream then being updated in place.
    std::vector<Tensor> stream_;  // layers + 1 of (B, T, C); for inference 2
    std::vector<BlockSaved> saved_;  // one a layer; for inference one
    BlockScratch scratch_;
    Tensor final_, final_mean_, final_rstd_;  // (B, T, C), (B, T), (B, T)
    Tensor d_stream_, d_final_;               // (B, T, C)
    Tensor lengths_, length_;                 // (max_batch), and what is used of it
    Tensor computed_, source_, scored_;       // (max_batch, max_seqlen) i32, of packed samples
    // Of the last forward: which slot each block read, and which held its input for backward.
    std::vector<std::size_t> input_slot_;
    std::size_t last_slot_ = 0;
};

}  // namespace deft::engine
