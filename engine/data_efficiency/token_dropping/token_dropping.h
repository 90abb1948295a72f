#pragma once
// Token dropping: some layers take only some of a sample's tokens; the others pass those layers by, unchanged. A way to
// choose the tokens is a TokenDropper: one file here, and one line in token_droppers.cpp.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/fields.h"
#include "engine/core/arena.h"
#include "engine/core/ops.h"
#include "engine/data_efficiency/sampling/pacing.h"

namespace deft::engine {

// The inputs of a choice of tokens.
struct MicroBatch {
    std::uint64_t seed = 0;
    std::int64_t step = 0;  // from 0
    std::int64_t T = 0;     // tokens of a sample
    Tensor draw;            // (B) i64: each sample's number among the run's draws
    Tensor token;   // (B, T) i32, or (1, M) of packed samples; empty: images, which only a dropper that does not
                    // read tokens can take
    Tensor length;  // (B) i32: real tokens; empty: all are
    SampleStarts packed = {};
    // (B + 1) on the host, of packed samples: where the rows that are kept of each start.
    const std::int32_t* kept_start = nullptr;
};

// A dropper with memory for one run.
struct TokenChoice {
    // Before the first step.
    std::function<void(Exec&)> start;
    // index (sets, B, K), packed samples or not: ascending in each row, real tokens before padding; the first
    // `keep_first` positions always.
    std::function<void(Exec&, Tensor index, std::int64_t keep_first, const MicroBatch&)> select;
    // For a dropper that learns; else empty. A micro-batch's losses, shaped as its tokens; Accumulate::no for the first
    // of a step.
    std::function<void(Exec&, Tensor target, Tensor loss, Accumulate)> observe = {};
    // The sums that observe() adds to, i64; summed over ranks before finish_step().
    std::vector<Tensor> observed = {};
    // Once a step, unless grad_norm or total_loss, (1) f64, is not finite: then the step did not count.
    std::function<void(Exec&, Tensor grad_norm, Tensor total_loss)> finish_step = {};
    // The learned state, f32, to be kept with a checkpoint.
    Tensor state = {};
};

struct TokenDropper {
    const char* name;     // of its table in a sweep file
    const char* meaning;  // of that table
    // The layers that drop tokens if nothing else is asked for, and the same in words.
    std::vector<std::int32_t> (*default_layers)(std::int64_t layers);
    const char* default_layers_text;
    // All layers keep one set of tokens, and follow each other; else each has a set of its own.
    bool one_set;
    // It chooses by which entries of the vocabulary tokens are: not of images.
    bool reads_tokens;
    // Its own settings: the keys of its table beside those that all have, in a record that new_settings() makes.
    Fields keys;
    std::shared_ptr<void> (*new_settings)();
    // Errors: config, for settings that do not fit a vocabulary of `vocab` entries.
    TokenChoice (*plan)(Arena&, std::span<const std::int32_t> layers, std::int64_t vocab, const void* settings);
};

// All there are.
std::span<const TokenDropper> token_droppers();
// The one of that name. Throws std::logic_error where there is none.
const TokenDropper& token_dropper(const std::string& name);

// One dropper at work in one model.
struct TokenDropping {
    Pacing kept;                       // tokens of each sample in the layers that drop; min == max: constant
    std::vector<std::int32_t> layers;  // those layers, ascending from 0
    std::int64_t keep_first = 0;       // positions kept always (1: a [CLS] token); at most kept.min
    const TokenDropper* dropper = nullptr;
    std::shared_ptr<const void> settings;
};

// Layers first .. last.
std::vector<std::int32_t> layer_range(std::int64_t first, std::int64_t last);

// That dropper on its default layers, with its default settings.
TokenDropping token_dropping(const std::string& dropper, std::int64_t layers, const Pacing& kept);

// random-LTD, likewise.
inline TokenDropping random_ltd(std::int64_t layers, const Pacing& kept) {
    return token_dropping("random_ltd", layers, kept);
}

}  // namespace deft::engine
