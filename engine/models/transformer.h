#pragma once
// A transformer: embedding of tokens or of patches, blocks, final norm, heads, each as its configuration says. One
// forward and one backward, for every model, backend and dtype.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/core/ops.h"
#include "engine/core/step_graphs.h"
#include "engine/models/transformer_config.h"
#include "engine/nn/block_stack.h"
#include "engine/nn/class_head.h"
#include "engine/nn/embedding.h"
#include "engine/nn/head.h"
#include "engine/nn/norm.h"
#include "engine/nn/parameters.h"
#include "engine/nn/patch_embedding.h"

namespace deft::engine {

// Training cost per sample, as sums over the parts of a model.
struct ModelFlops {
    std::vector<TrainingFlops> blocks;  // of each by the rows that it takes
    TrainingFlops rest;                 // of every row
};

// Samples (B, T) to be scored, of which each position that is not padding is computed once, and once for all samples
// that begin alike up to it. On the host.
struct PackedSamples {
    std::int64_t B = 0, T = 0;               // B T at most max_batch max_seqlen, T at most max_seqlen
    std::span<const std::int32_t> token;     // (M): of each row that is computed
    std::span<const std::int32_t> position;  // (M): its place in its sample
    std::span<const std::int32_t> computed;  // (M): its place in (B T)
    std::span<const std::int32_t> source;    // (B, T): which of the M is at each position; at padding any
    std::span<const std::int32_t> scored;    // (R), R at most B T: which of the M a loss is asked of
    std::span<const std::int32_t> target;    // (R)
};

// A micro-batch on the host, which must stay as it is until a result is read.
struct ModelInput {
    std::int64_t B = 0, T = 0;
    // (B, T), or (M) of packed samples, as target and segment are; of models of tokens, as are the next three.
    const std::int32_t* token = nullptr;
    const std::int32_t* target = nullptr;   // (B, T), or kernels::kIgnoreTarget where a position has no loss; of models
                                            // with a head of tokens
    const std::int32_t* length = nullptr;   // (B): real tokens of each sample, the rest being padding that no position
                                            // attends to; null: all are real
    const std::int32_t* segment = nullptr;  // (B, T): which part of its sample a token belongs to; of models that have
                                            // such an embedding
    const std::int32_t* class_target = nullptr;  // (B), or kernels::kIgnoreTarget; of models that classify samples
    const float* value_target = nullptr;         // (B), of models with a regression head
    const std::int64_t* draw = nullptr;  // (B): the number of each sample's draw, by which what is random in it is
                                         // keyed
    const float* image = nullptr;        // (B, height, width, channels); of models of images
    // Packed samples lie one after the other, without padding: (B + 1), sample b has the rows from start[b] to before
    // start[b + 1] = start[b] + length[b], and start[0] is 0; null: they are not packed.
    const std::int32_t* start = nullptr;
    const std::int32_t* position = nullptr;    // (M), of packed samples: of each row in its sample
    const std::int32_t* kept_start = nullptr;  // (B + 1), likewise, of what layers that drop tokens keep

    std::int64_t rows() const { return start != nullptr ? start[B] : B * T; }
};

// The factors of the sum of each head's losses before its gradient is taken, and of the auxiliary losses of
// experts, applied in addition to their weights.
struct LossScales {
    StepValue<double> tokens = 1, classes = 1;
    double auxiliary = 1;
};

class Transformer {
 public:
    // Plans every buffer for micro-batches of at most `max_batch` samples of max_seqlen tokens. Call inside a plan.
    // For inference there are no gradients, no moments, and the activations of one layer: evaluate() and logits() alone
    // may be called. moments: that the optimizer keeps of each weight. ranks: where they divide the experts, all of
    // them call what computes together.
    Transformer(Arena& arena, const TransformerConfig& config, const Backend& backend, std::int64_t max_batch,
                Purpose purpose = Purpose::training, Recompute recompute = Recompute::none,
                const KeptMoments& moments = {}, const ModelRanks& ranks = {});
    Transformer(const Transformer&) = delete;
    Transformer& operator=(const Transformer&) = delete;

    const TransformerConfig& config() const { return config_; }
    ParameterTable& parameters() { return parameters_; }
    const ParameterTable& parameters() const { return parameters_; }
    ModelFlops flops() const;
    const std::vector<Block>& blocks() const { return stack_.blocks(); }
    // Parameters that one row uses: an expert layer counts the experts per token.
    std::int64_t active_parameters() const;

    // Inputs of a micro-batch, (max_batch, max_seqlen) i32, which load() alone fills; use token.view({B, T}). segment:
    // for models with segment embeddings, else empty.
    Tensor token, segment, target;
    // Loss of each position after a call below, (max_batch, max_seqlen), nats; greedy hits i32. Of a model with a head
    // of tokens, else empty.
    Tensor loss, greedy;
    // For a class head with at most max_batch samples, (max_batch); else empty. class_loss: for a regression head
    // too.
    Tensor class_target, class_loss, class_greedy;
    // For a regression head: f32, and its prediction after a call below, (max_batch); else empty.
    Tensor value_target, value;
    // (max_batch, height, width, channels) f32, of a model of images; then those of tokens are empty.
    Tensor image;

    // Hands over the next micro-batch. Errors: config, for tokens where the model takes images and the reverse, a token
    // outside the vocabulary, a length beyond T, a segment or class that the model lacks, or a value that is not
    // finite.
    void load(Exec& exec, const ModelInput& input);
    // (B) i32 of the loaded micro-batch, empty where all tokens are real.
    const Tensor& length() const { return length_; }
    // Rows with a target of a token, or of a class. For a GPU the former are rounded up to a multiple of kTargetRows,
    // so that micro-batches share their launches.
    static constexpr std::int64_t kTargetRows = 128;
    std::int64_t target_rows() const { return target_rows_; }
    std::int64_t class_rows() const { return class_rows_; }
    std::int64_t loaded_rows() const { return shape_[0] * shape_[1]; }
    // Where its samples start, of packed ones.
    const SampleStarts& packed() const { return packed_.samples; }
    // The loaded part of a buffer (max_batch, max_seqlen): (B, T), or (1, M) of packed samples.
    Tensor loaded(const Tensor& buffer) const { return buffer.view({shape_[0], shape_[1]}); }

    // Loss and gradients of a micro-batch: adds the gradient of each head's sum of losses times its scale to, or
    // writes, every parameter's gradient. random: keys of dropout's draws, if the model has any; without draws none
    // drops. done: called per block, the last one first.
    void forward_backward(Exec& exec, std::int64_t B, std::int64_t T, const KeptTokens& kept, const DropoutKeys& random,
                          const LossScales& scales, Accumulate accumulate, const BlockDone& done = {});

    // Loss and greedy hits with every token in every layer. On a GPU, a shape that returns starts as one graph, unless
    // ranks divide the experts.
    void evaluate(Exec& exec, std::int64_t B, std::int64_t T);
    StepGraphs& evaluation_graphs() { return evaluation_graphs_; }

    // The same of causal attention for packed samples: R entries of loss and greedy, which view({1, R}) has.
    // Errors: as load().
    void evaluate(Exec& exec, const PackedSamples& samples);

    // Goes on from what the cache holds, to which it adds: the first M tokens of a text, which all samples of an empty
    // cache share, or one token more of each sample. token (M) is on the host and must stay as it is until a result is
    // read. logits (1, V) of what follows the first tokens, or (samples, V).
    // Errors: config, for a token outside the vocabulary. A model that cannot: see require_generates().
    void next_logits(Exec& exec, KeyValueCache& cache, std::span<const std::int32_t> token, Tensor logits);

    // Logits (B, T, V) of the last forward pass over (B, T), for inspection: the training path never holds them.
    void logits(Exec& exec, Tensor out, std::int64_t B, std::int64_t T);
    // The logits of the class head, (B, classes).
    void class_logits(Exec& exec, Tensor out) { class_head_->logits(exec, out); }

 private:
    void require_in_vocabulary(std::span<const std::int32_t> ids, std::int32_t lowest, const char* what) const;
    // segments (positions), or null. Errors: config, for those that a model which has segments lacks.
    void require_segments(const std::int32_t* segments, std::int64_t positions) const;
    // classes (B), or null. Errors: config, likewise.
    void require_classes(const std::int32_t* classes, std::int64_t B) const;
    // values (B), or null. Errors: config, where a model of values has none, or one that is not finite.
    void require_values(const float* values, std::int64_t B) const;
    bool is_regression() const { return config_.class_head && config_.class_head->value; }
    // image (B, height, width, channels), or null. Errors: config, where a model of images has none, and the reverse.
    void require_images(const float* images) const;
    void load_tokens(Exec& exec, const ModelInput& input);
    void load_packed(Exec& exec, const ModelInput& input);
    // The ids of the loaded micro-batch.
    EmbeddingIds loaded_ids() const;
    LabelledRows labelled(std::int64_t B) const;
    Tensor loaded_images(std::int64_t B) const;
    StreamRows stream_rows(std::int64_t B, std::int64_t T, const KeptTokens& kept, const DropoutKeys& random) const;
    // It becomes the first block's input, and the gradient of that the embedding's.
    void embed(Exec& exec, const StreamRows& rows);
    void embed_backward(Exec& exec, const StreamRows& rows, Accumulate accumulate);
    // The blocks and the final norm over what stack_.input(rows) holds: (B, T, C), or (1, M, C) of packed rows.
    Tensor forward(Exec& exec, const StreamRows& rows);
    void backward(Exec& exec, const StreamRows& rows, Accumulate accumulate, const BlockDone& done);

    TransformerConfig config_;
    Purpose purpose_;
    ParameterTable parameters_;
    Planner plan_;
    std::optional<Embedding> embedding_;             // of tokens, or
    std::optional<PatchEmbedding> patch_embedding_;  // of images
    BlockStack stack_;
    std::optional<Norm> final_norm_;
    std::optional<Head> head_;
    std::optional<ClassHead> class_head_;
    Tensor d_stream_;          // (B, T, C)
    Tensor states_;            // (B, T, C), scratch: what the head reads of packed rows, and its gradient
    Tensor lengths_, length_;  // (max_batch max_seqlen), and what is used of it
    Tensor last_states_;       // what the head read last, (B, T, C) or packed rows
    std::int64_t target_rows_ = 0, class_rows_ = 0;  // targets of the loaded micro-batch that are not ignored
    Tensor computed_, source_, scored_, position_;   // (max_batch, max_seqlen) i32, of packed samples
    Tensor start_;                                   // (max_batch max_seqlen + 1) i32, likewise
    std::array<std::int64_t, 2> shape_{};            // of the loaded micro-batch: (B, T), or (1, M) of packed samples
    PackedRows packed_;                              // likewise
    StepGraphs evaluation_graphs_;
};

// Errors: config, for a model that cannot continue a text: it looks to later positions, has no head of tokens, or has
// segment embeddings.
void require_generates(const TransformerConfig& config);

// Parameters and FLOPs of a model, without memory for it.
struct ModelSize {
    std::int64_t parameters = 0;
    std::int64_t active_parameters = 0;  // that one row meets
    ModelFlops flops;
};
ModelSize model_size(const TransformerConfig& config);

}  // namespace deft::engine
