#include "engine/train/batches.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "kernels/ceil_div.h"
#include "kernels/types.h"

namespace deft::engine {

namespace {

template <class Item>
Memory staging(Device device, std::int64_t count) {
    return allocate_staging(device, static_cast<std::size_t>(count) * sizeof(Item));
}

std::int32_t* tokens_in(const Memory& memory) {
    return static_cast<std::int32_t*>(memory.get());
}

float* values_in(const Memory& memory) {
    return static_cast<float*>(memory.get());
}

std::int64_t* numbers_in(const Memory& memory) {
    return static_cast<std::int64_t*>(memory.get());
}

std::int64_t count_targets(const std::int32_t* target, std::int64_t count) {
    return count - std::count(target, target + count, kernels::kIgnoreTarget);
}

// Writes a row's values and fills its rest. (T)
void copy_padded(std::span<const std::int32_t> values, std::int32_t padding, std::int64_t T, std::int32_t* row) {
    std::fill(std::copy(values.begin(), values.end(), row), row + T, padding);
}

}  // namespace

namespace {

// The model's images are those of the data, and no technique cuts them.
void require_images_of(const TrainerConfig& config, const ImageSamples& samples) {
    const ImageSet& images = samples.images;
    const auto& patches = config.model.input.patches;
    if (!patches || !config.model.class_head)
        throw Error(ErrorKind::config, "images for a model that takes none, or has no class head",
                    "use a model of images, with a class head");
    const ShownSize shown = shown_size(images, samples.augmentation);
    if (patches->height != shown.height || patches->width != shown.width || patches->channels != images.channels ||
        config.model.class_head->classes != images.classes)
        throw Error(
            ErrorKind::config,
            fmt::format("the model takes images of {} x {} x {} in {} classes, and the data has {} x {} x {} in {}",
                        patches->height, patches->width, patches->channels, config.model.class_head->classes,
                        shown.height, shown.width, images.channels, images.classes),
            "give the model the images of its data");
    if (config.techniques.seqtru || config.techniques.seqres)
        throw Error(ErrorKind::config, "a curriculum of lengths would cut images, which are shown whole",
                    "order images by a column, or drop tokens with random_ltd");
    check_augmentation(samples.augmentation, images);
}

// The model predicts the kind of label that the texts have, and no technique cuts them.
void require_labels_of(const TrainerConfig& config, const LabelledSamples& samples) {
    const auto& head = config.model.class_head;
    if (config.model.input.patches || config.model.head || !head)
        throw Error(ErrorKind::config, "labelled texts for a model that takes none, or has another head than theirs",
                    "use a model of tokens with a class head alone");
    if (head->value != samples.has_values() || (!head->value && head->classes != samples.classes()))
        throw Error(
            ErrorKind::config,
            fmt::format("the model predicts {}, and the texts have {}",
                        head->value ? std::string("values") : fmt::format("{} classes", head->classes),
                        samples.has_values() ? std::string("values") : fmt::format("{} classes", samples.classes())),
            "give the model the head of its data");
    if (samples.longest() != config.model.max_seqlen)
        throw Error(
            ErrorKind::config,
            fmt::format("texts were cut to {} tokens, for a model of {}", samples.longest(), config.model.max_seqlen),
            "cut them to the model's length");
    if (config.techniques.seqtru || config.techniques.seqres)
        throw Error(ErrorKind::config, "a curriculum of lengths would cut labelled texts, which are shown whole",
                    "drop tokens with random_ltd");
}

}  // namespace

std::int64_t sample_count(const TrainingData& data, std::int64_t seqlen) {
    if (const auto* labelled = std::get_if<std::shared_ptr<const LabelledSamples>>(&data)) return (*labelled)->size();
    if (const auto* images = std::get_if<std::shared_ptr<const ImageSamples>>(&data)) return (*images)->size();
    if (const auto* bert = std::get_if<std::shared_ptr<const BertSamples>>(&data)) return (*bert)->size();
    return std::get<TokenCorpus>(data).samples(seqlen);
}

Batches::Batches(TrainingData data, const TrainerConfig& config, Device device, int steps)
    : data_(std::move(data)),
      seed_(config.seed),
      full_seqlen_(config.model.max_seqlen),
      reshapes_(config.techniques.seqres.has_value()),
      unique_tokens_(sample_count(data_, full_seqlen_)) {
    if (const ImageSamples* samples = images()) require_images_of(config, *samples);
    if (const LabelledSamples* texts = labelled()) require_labels_of(config, *texts);
    if (const auto* bert = std::get_if<std::shared_ptr<const BertSamples>>(&data_)) {
        if (reshapes_)
            throw Error(ErrorKind::config,
                        "seqres lays samples end to end, and a BERT sample cannot be cut across its special tokens",
                        "use seqtru, which cuts each segment before its [SEP]");
        reader_.emplace(**bert);
    }
    packs_ = config.packs_samples && (reader_ || labelled() != nullptr);
    steps_.resize(static_cast<std::size_t>(steps));
    for (StagedStep& step : steps_) allocate(step, config, device);
}

void Batches::allocate(StagedStep& step, const TrainerConfig& config, Device device) const {
    const LargestStep largest = largest_step(config);
    const std::int64_t rows = largest.tokens / largest.least_seqlen + 1;
    step.seen.reserve(static_cast<std::size_t>(largest.samples));
    step.draw = staging<std::int64_t>(device, rows);
    const bool is_regression = config.model.class_head && config.model.class_head->value;
    if (config.model.class_head && !is_regression) step.class_of = staging<std::int32_t>(device, rows);
    if (is_regression) step.value = staging<float>(device, rows);
    if (const ImageSamples* samples = images()) {
        step.image = staging<float>(device, rows * samples->image_values());
        return;
    }
    step.token = staging<std::int32_t>(device, largest.tokens);
    if (labelled() == nullptr) step.target = staging<std::int32_t>(device, largest.tokens);
    if (!reader_ && labelled() == nullptr) return;
    step.segment = staging<std::int32_t>(device, largest.tokens);
    step.length = staging<std::int32_t>(device, rows);
    if (!packs_) return;
    step.position = staging<std::int32_t>(device, largest.tokens);
    step.start = staging<std::int32_t>(device, 2 * rows);
    step.kept_start = staging<std::int32_t>(device, 2 * rows);
}

void Batches::stage(const StepPlan& plan, std::span<const Sampler::Draw> draws, std::int64_t first_draw,
                    std::optional<std::int64_t> at_once, std::int64_t parts) {
    stage_next(plan, draws, first_draw, at_once, parts);
    take_next();
    count_taken();
}

void Batches::stage_next(const StepPlan& plan, std::span<const Sampler::Draw> draws, std::int64_t first_draw,
                         std::optional<std::int64_t> at_once, std::int64_t parts) {
    StagedStep& to = next();
    to.seqlen = plan.seqlen;
    to.part_rows = plan.rows / parts;
    to.at_once = std::min(at_once.value_or(to.part_rows), to.part_rows);
    to.drops = plan.drops();
    to.seen.clear();
    if (const ImageSamples* samples = images())
        stage_images(*samples, plan, draws, first_draw, to);
    else if (const LabelledSamples* texts = labelled())
        stage_labelled(*texts, plan, draws, to);
    else if (reader_)
        stage_bert(plan, draws, first_draw, to);
    else
        stage_packed(std::get<TokenCorpus>(data_), plan, draws, to);
    std::iota(numbers_in(to.draw), numbers_in(to.draw) + plan.rows, first_draw);
    const std::int64_t positions = packs_ ? to.tokens.input : plan.rows * plan.seqlen;
    to.targets.tokens = to.target ? count_targets(tokens_in(to.target), positions) : 0;
    to.targets.classes = to.class_of ? count_targets(tokens_in(to.class_of), plan.rows) : to.value ? plan.rows : 0;
}

void Batches::take_next() {
    taken_ = (taken_ + 1) % steps_.size();
}

void Batches::count_taken() {
    for (const auto& [sample, length] : steps_[taken_].seen) unique_tokens_.see(sample, length);
}

void Batches::stage_packed(const TokenCorpus& corpus, const StepPlan& plan, std::span<const Sampler::Draw> draws,
                           StagedStep& to) const {
    const std::int64_t length = reshapes_ ? full_seqlen_ : plan.seqlen;         // of each sample
    std::int32_t *token = tokens_in(to.token), *target = tokens_in(to.target);  // (length) of the sample at hand
    for (const Sampler::Draw& draw : draws) {
        copy_sample(corpus, draw.sample, full_seqlen_, length, token, target);
        to.seen.push_back({draw.sample, length});
        token += length;
        target += length;
    }
    std::fill_n(token, plan.padding(), 0);
    std::fill_n(target, plan.padding(), kernels::kIgnoreTarget);
    to.tokens = planned_tokens(plan);
}

// Where the next row goes, of rows that have padding unless they are packed.
struct Batches::Cursor {
    std::int64_t T;  // of a padded row
    std::int32_t *token, *segment, *length, *position;
};

Batches::Cursor Batches::cursor(const StagedStep& to) const {
    return {to.seqlen, tokens_in(to.token), tokens_in(to.segment), tokens_in(to.length), tokens_in(to.position)};
}

void Batches::lay_out(Cursor& at, std::span<const std::int32_t> tokens, std::span<const std::int32_t> types,
                      std::int32_t pad) const {
    const auto length = static_cast<std::int64_t>(tokens.size()), rows = packs_ ? length : at.T;
    copy_padded(tokens, pad, rows, at.token);
    copy_padded(types, 0, rows, at.segment);
    *at.length++ = static_cast<std::int32_t>(length);
    at.token += rows;
    at.segment += rows;
    if (!packs_) return;
    std::iota(at.position, at.position + rows, 0);
    at.position += rows;
}

void Batches::stage_bert(const StepPlan& plan, std::span<const Sampler::Draw> draws, std::int64_t first_draw,
                         StagedStep& to) {
    const BertSamples& samples = reader_->samples();
    const std::int32_t pad = samples.wordpiece()->vocabulary().pad;
    const std::int64_t T = plan.seqlen;
    Cursor at = cursor(to);
    std::int32_t *target = tokens_in(to.target), *order = tokens_in(to.class_of);
    to.tokens = {};
    for (const Sampler::Draw& draw : draws) {
        const auto number = static_cast<std::uint64_t>(first_draw++);
        const BertSample& sample = reader_->read({draw.sample, number}, T);
        const std::int64_t rows = packs_ ? sample.length() : T;
        lay_out(at, sample.tokens, sample.types, pad);
        copy_padded(sample.labels, kernels::kIgnoreTarget, rows, target);
        target += rows;
        if (order != nullptr) *order++ = sample.order;
        to.seen.push_back({draw.sample, sample.length()});
        to.tokens.input += sample.length();
        to.tokens.cut += samples.real_length(draw.sample) - sample.length();
    }
    to.tokens.padding = plan.rows * T - to.tokens.input;
    if (packs_) stage_starts(plan, to);
}

void Batches::stage_labelled(const LabelledSamples& samples, const StepPlan& plan, std::span<const Sampler::Draw> draws,
                             StagedStep& to) const {
    Cursor at = cursor(to);
    std::int32_t* label = tokens_in(to.class_of);
    float* value = values_in(to.value);
    to.tokens = {};
    for (const Sampler::Draw& draw : draws) {
        const auto i = static_cast<std::size_t>(draw.sample);
        lay_out(at, samples.tokens(draw.sample), samples.types(draw.sample), samples.pad());
        if (samples.has_values())
            *value++ = samples.values()[i];
        else
            *label++ = samples.labels()[i];
        to.seen.push_back({draw.sample, samples.length(draw.sample)});
        to.tokens.input += samples.length(draw.sample);
        to.tokens.cut += samples.cut(draw.sample);
    }
    to.tokens.padding = plan.rows * plan.seqlen - to.tokens.input;
    if (packs_) stage_starts(plan, to);
}

void Batches::stage_starts(const StepPlan& plan, const StagedStep& to) const {
    const std::int32_t* length = tokens_in(to.length);
    std::int32_t *start = tokens_in(to.start), *kept_start = tokens_in(to.kept_start);
    const auto kept = static_cast<std::int32_t>(plan.kept);
    for (std::int64_t part = 0; part < plan.rows; part += to.part_rows)
        for (std::int64_t first = part; first < part + to.part_rows; first += to.at_once) {
            *start = *kept_start = 0;
            const std::int64_t end = std::min(part + to.part_rows, first + to.at_once);
            for (std::int64_t row = first; row < end; ++row, ++start, ++kept_start) {
                start[1] = start[0] + length[row];
                kept_start[1] = kept_start[0] + std::min(kept, length[row]);
            }
            ++start;
            ++kept_start;
        }
}

const ImageSamples* Batches::images() const {
    const auto* samples = std::get_if<std::shared_ptr<const ImageSamples>>(&data_);
    return samples != nullptr ? samples->get() : nullptr;
}

const LabelledSamples* Batches::labelled() const {
    const auto* samples = std::get_if<std::shared_ptr<const LabelledSamples>>(&data_);
    return samples != nullptr ? samples->get() : nullptr;
}

void Batches::stage_images(const ImageSamples& samples, const StepPlan& plan, std::span<const Sampler::Draw> draws,
                           std::int64_t first_draw, StagedStep& to) const {
    const auto pixels = static_cast<std::size_t>(samples.image_values());
    float* image = values_in(to.image);  // (height, width, channels)
    std::int32_t* label = tokens_in(to.class_of);
    for (const Sampler::Draw& draw : draws) {
        write_augmented(samples.images, draw.sample, samples.augmentation, {seed_, first_draw++}, {image, pixels});
        *label++ = samples.images.labels[static_cast<std::size_t>(draw.sample)];
        to.seen.push_back({draw.sample, plan.seqlen});
        image += pixels;
    }
    to.tokens = planned_tokens(plan);
}

ModelInput Batches::rows(std::int64_t first, std::int64_t count) const {
    const StagedStep& from = steps_[taken_];
    const std::int32_t* length = tokens_in(from.length);
    const std::int64_t begin = packs_ ? std::accumulate(length, length + first, std::int64_t{0}) : first * from.seqlen;
    ModelInput input{.B = count, .T = from.seqlen};
    input.draw = numbers_in(from.draw) + first;
    if (const ImageSamples* samples = images()) {
        input.image = values_in(from.image) + first * samples->image_values();
        input.class_target = tokens_in(from.class_of) + first;
        return input;
    }
    input.token = tokens_in(from.token) + begin;
    if (from.target) input.target = tokens_in(from.target) + begin;
    if (!from.length) return input;
    input.length = length + first;
    input.segment = tokens_in(from.segment) + begin;
    if (from.class_of) input.class_target = tokens_in(from.class_of) + first;
    if (from.value) input.value_target = values_in(from.value) + first;
    if (!packs_) return input;
    const std::int64_t in_part = first % from.part_rows;
    if (in_part % from.at_once != 0 || count > from.at_once)
        throw std::logic_error("packed rows of several micro-batches");
    const std::int64_t micro_batches_before =
        first / from.part_rows * kernels::ceil_div(from.part_rows, from.at_once) + in_part / from.at_once;
    const std::int64_t starts_before = first + micro_batches_before;
    input.position = tokens_in(from.position) + begin;
    input.start = tokens_in(from.start) + starts_before;
    if (from.drops) input.kept_start = tokens_in(from.kept_start) + starts_before;
    return input;
}

void Batches::restore(std::span<const std::int32_t> unique_tokens_by_sample) {
    unique_tokens_ = UniqueTokens(sample_count(data_, full_seqlen_));
    for (std::size_t i = 0; i < unique_tokens_by_sample.size(); ++i)
        unique_tokens_.see(static_cast<std::int64_t>(i), unique_tokens_by_sample[i]);
}

}  // namespace deft::engine
