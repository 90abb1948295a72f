#pragma once
// The data of a training step: the draws of the sampler as rows of the model's input, laid out on the host.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "engine/core/memory.h"
#include "engine/data/bert/samples.h"
#include "engine/data/images/image_samples.h"
#include "engine/data/labelled/labelled_samples.h"
#include "engine/data/token_corpus.h"
#include "engine/data_efficiency/sampling/sampler.h"
#include "engine/models/transformer.h"
#include "engine/train/accounting.h"
#include "engine/train/trainer_config.h"

namespace deft::engine {

// Text packed into samples of the model's length, each position predicting the next token; BERT's samples, in which
// masked tokens are predicted; images with classes; or labelled texts, for classification or regression.
using TrainingData = std::variant<TokenCorpus, std::shared_ptr<const BertSamples>, std::shared_ptr<const ImageSamples>,
                                  std::shared_ptr<const LabelledSamples>>;

// How many there are to draw from; packed ones are of `seqlen` tokens.
std::int64_t sample_count(const TrainingData& data, std::int64_t seqlen);

// How many positions and samples of a step have a target: by what the sum of each head's losses is divided.
struct StepTargets {
    std::int64_t tokens = 0, classes = 0;
};

// A step laid out on the host, in memory from which a device reads; with room for the largest step.
struct StagedStep {
    Memory token{nullptr, nullptr}, target{nullptr, nullptr};  // (rows, seqlen) i32
    Memory segment{nullptr, nullptr},
        length{nullptr, nullptr};       // (rows, seqlen), (rows) i32, of BERT and labelled samples
    Memory class_of{nullptr, nullptr};  // (rows) i32, where the model predicts classes
    Memory value{nullptr, nullptr};     // (rows) f32, where it predicts values
    Memory image{nullptr, nullptr};     // (rows, height, width, channels) f32
    Memory draw{nullptr, nullptr};      // (rows) i64
    // For packed samples: (rows, seqlen); (2 rows), for each micro-batch one more than its rows.
    Memory position{nullptr, nullptr}, start{nullptr, nullptr}, kept_start{nullptr, nullptr};
    std::int64_t seqlen = 0, part_rows = 0, at_once = 0;
    bool drops = false;
    StepTargets targets;
    StepTokens tokens;
    // A sample and how many of its tokens are laid out.
    struct Seen {
        std::int64_t sample, length;
    };
    std::vector<Seen> seen;  // (samples)
};

// Stages the steps of a run, one after the other, in memory that it keeps.
//
// The rows of a step are plan.seqlen tokens long. Packed samples are cut to that length, or with seqres laid end to end
// and split again, where only the last row may end in padding. A BERT sample has a row of its own: it is cut to that
// length, each segment before its [SEP], and padded with [PAD] on its right; or the rows of a micro-batch lie one after
// the other without padding, where the configuration packs samples. Its class, where the model has classes, is whether
// its segments were swapped. A labelled text is laid out as a BERT sample, and never cut. An image is a row too, of as
// many tokens as the model makes of it, and is cropped and flipped by the number of its draw.
class Batches {
 public:
    // With memory for the largest step of the techniques; `steps` = 2 holds the next step beside the taken one. Errors:
    // memory; config, for seqres of BERT samples, for images that are not those of the model, for labelled texts that
    // do not fit its head, and for both if a technique cuts samples to a length.
    Batches(TrainingData data, const TrainerConfig& config, Device device, int steps = 1);

    // Lays out a step and takes it: `draws` (plan.samples), the first of which is number `first_draw` of the run; of
    // BERT samples the number also decides which tokens are masked, and of images how they are augmented. Overwrites
    // what rows() gave before. Errors: config, for a length that leaves no text beside a BERT sample's special tokens.
    // at_once: rows of a micro-batch; all of them where none is named. parts: how many equal ones the rows are divided
    // in, which plan.rows is a multiple of; micro-batches restart in each.
    void stage(const StepPlan& plan, std::span<const Sampler::Draw> draws, std::int64_t first_draw,
               std::optional<std::int64_t> at_once = {}, std::int64_t parts = 1);
    // The parts of stage(). With two steps, the taken one stays as it is while the next one is laid out.
    void stage_next(const StepPlan& plan, std::span<const Sampler::Draw> draws, std::int64_t first_draw,
                    std::optional<std::int64_t> at_once, std::int64_t parts);
    void take_next();
    // Adds the taken step to unique_tokens().
    void count_taken();

    // Targets of the taken step.
    const StepTargets& targets() const { return steps_[taken_].targets; }
    const StepTokens& tokens() const { return steps_[taken_].tokens; }
    // Its rows [first, first + count), of packed samples those of one micro-batch. Row r is numbered as draw
    // first_draw + r, reshaped rows too, which hold parts of several samples.
    ModelInput rows(std::int64_t first, std::int64_t count) const;

    // The longest prefix of each sample in the steps counted so far, in real tokens.
    const UniqueTokens& unique_tokens() const { return unique_tokens_; }
    // Goes on from what unique_tokens().by_sample() was.
    void restore(std::span<const std::int32_t> unique_tokens_by_sample);

 private:
    void stage_packed(const TokenCorpus& corpus, const StepPlan& plan, std::span<const Sampler::Draw> draws,
                      StagedStep& to) const;
    void stage_bert(const StepPlan& plan, std::span<const Sampler::Draw> draws, std::int64_t first_draw,
                    StagedStep& to);
    void stage_labelled(const LabelledSamples& samples, const StepPlan& plan, std::span<const Sampler::Draw> draws,
                        StagedStep& to) const;
    // Lays out a row of such samples at the cursor, with [PAD] after it unless rows are packed.
    struct Cursor;
    Cursor cursor(const StagedStep& to) const;
    void lay_out(Cursor& at, std::span<const std::int32_t> tokens, std::span<const std::int32_t> types,
                 std::int32_t pad) const;
    void stage_images(const ImageSamples& samples, const StepPlan& plan, std::span<const Sampler::Draw> draws,
                      std::int64_t first_draw, StagedStep& to) const;
    // The images of the data, or null.
    const ImageSamples* images() const;
    const LabelledSamples* labelled() const;
    // Where the rows of each packed sample start in its micro-batch, and where what layers keep of them.
    void stage_starts(const StepPlan& plan, const StagedStep& to) const;
    void allocate(StagedStep& step, const TrainerConfig& config, Device device) const;
    StagedStep& next() { return steps_[(taken_ + 1) % steps_.size()]; }

    TrainingData data_;
    std::uint64_t seed_;
    std::int64_t full_seqlen_;
    bool reshapes_;                     // seqres
    bool packs_ = false;                // BERT samples and labelled texts, without padding
    std::optional<BertReader> reader_;  // of BERT samples
    UniqueTokens unique_tokens_;
    // With two, a device reads one while the other is laid out.
    std::vector<StagedStep> steps_;
    std::size_t taken_ = 0;
};

}  // namespace deft::engine
