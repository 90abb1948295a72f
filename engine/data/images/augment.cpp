#include "engine/data/images/augment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace deft::engine {

namespace {

// Uniform in -padding .. padding; of 2^32 words, the shares of two values differ by one at most.
std::int64_t crop_offset(std::uint32_t word, std::int64_t padding) {
    const auto places = static_cast<std::uint64_t>(2 * padding + 1);
    return static_cast<std::int64_t>(word * places >> 32) - padding;
}

// out (height, width, channels), as patches are cut from it.
void write_image(const ImageSet& images, std::int64_t i, const ChannelStatistics& channels,
                 const AugmentationChoice& choice, std::span<float> out) {
    const std::int64_t height = images.height, width = images.width, C = images.channels;
    // Columns of the crop that lie in the image; the others, and rows that do not, are padding.
    const std::int64_t first = std::max<std::int64_t>(0, -choice.right), last = std::min(width, width - choice.right);
    const std::span<const std::uint8_t> image = images.image(i);
    for (std::int64_t c = 0; c < C; ++c) {
        const double deviation = channels.deviation[static_cast<std::size_t>(c)];
        const double scale = 1 / (255 * deviation), shift = -channels.mean[static_cast<std::size_t>(c)] / deviation;
        for (std::int64_t y = 0; y < height; ++y) {
            float* row = out.data() + y * width * C + c;  // every C-th of (width C)
            const auto put = [&](std::int64_t x, double value) {
                row[(choice.flipped ? width - 1 - x : x) * C] = static_cast<float>(value);
            };
            const std::int64_t from_y = y + choice.down;
            const bool is_padding = from_y < 0 || from_y >= height;
            const std::uint8_t* from = image.data() + (c * height + (is_padding ? 0 : from_y)) * width;  // (width)
            for (std::int64_t x = 0; x < width; ++x)
                put(x, is_padding || x < first || x >= last ? shift : from[x + choice.right] * scale + shift);
        }
    }
}

}  // namespace

void check_augmentation(const Augmentation& augmentation, const ImageSet& images) {
    const auto channels = static_cast<std::size_t>(images.channels);
    const ChannelStatistics& statistics = augmentation.channels;
    if (statistics.mean.size() != channels || statistics.deviation.size() != channels)
        throw Error(ErrorKind::config,
                    fmt::format("{} means and {} deviations for images of {} channels", statistics.mean.size(),
                                statistics.deviation.size(), channels),
                    "give one of each for every channel");
    for (std::size_t c = 0; c < channels; ++c)
        if (!std::isfinite(statistics.mean[c]) || !std::isfinite(statistics.deviation[c]) ||
            statistics.deviation[c] <= 0)
            throw Error(ErrorKind::config,
                        fmt::format("channel {} cannot be normalised by mean {} and deviation {}", c,
                                    statistics.mean[c], statistics.deviation[c]),
                        "give a deviation above zero: the training images' own, unless all their pixels are equal");
    const std::int64_t side = std::min(images.height, images.width);
    if (augmentation.crop_padding < 0 || augmentation.crop_padding >= side)
        throw Error(ErrorKind::config,
                    fmt::format("a crop padding of {} for images of {} x {}", augmentation.crop_padding, images.height,
                                images.width),
                    fmt::format("give 0 to {}: with more, a crop may hold nothing of its image", side - 1));
}

AugmentationChoice augmentation_choice(const Augmentation& augmentation, const AugmentationKey& key) {
    const kernels::PhiloxBlock block = kernels::philox_block(key.seed, kernels::RandomPurpose::image_augmentation, 0, 0,
                                                             static_cast<std::uint64_t>(key.draw), 0);
    AugmentationChoice choice;
    choice.down = crop_offset(block.word[0], augmentation.crop_padding);
    choice.right = crop_offset(block.word[1], augmentation.crop_padding);
    choice.flipped = augmentation.flip && block.word[2] >> 31 != 0;
    return choice;
}

void write_augmented(const ImageSet& images, std::int64_t i, const Augmentation& augmentation,
                     const AugmentationKey& key, std::span<float> out) {
    write_image(images, i, augmentation.channels, augmentation_choice(augmentation, key), out);
}

void write_normalised(const ImageSet& images, std::int64_t i, const ChannelStatistics& channels, std::span<float> out) {
    write_image(images, i, channels, {}, out);
}

}  // namespace deft::engine
