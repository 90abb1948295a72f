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

// Where a pixel of a stretched side lies between two of the side that there was.
struct Between {
    std::int64_t low = 0, high = 0;
    double share = 0;  // of `high`
};

// Centres of pixels lie on centres: pixel i of `to` covers from i / to to (i + 1) / to of the side.
Between between(std::int64_t i, std::int64_t from, std::int64_t to) {
    if (from == to) return {i, i, 0};
    const double centre = (static_cast<double>(i) + 0.5) * static_cast<double>(from) / static_cast<double>(to) - 0.5;
    const double inside = std::clamp(centre, 0.0, static_cast<double>(from - 1));
    const auto low = static_cast<std::int64_t>(inside);
    return {low, std::min(low + 1, from - 1), inside - static_cast<double>(low)};
}

// One channel of an image: (height, width) pixels, seen as (to_height, to_width).
struct StretchedChannel {
    std::span<const std::uint8_t> pixels;
    std::int64_t height = 0, width = 0;
    ShownSize to;

    double value(const Between& row, std::int64_t x) const {
        const Between column = between(x, width, to.width);
        const auto at = [&](std::int64_t y, std::int64_t c) {
            return static_cast<double>(pixels[static_cast<std::size_t>(y * width + c)]);
        };
        const double low =
            at(row.low, column.low) + column.share * (at(row.low, column.high) - at(row.low, column.low));
        const double high =
            at(row.high, column.low) + column.share * (at(row.high, column.high) - at(row.high, column.low));
        return low + row.share * (high - low);
    }
};

// out (height, width, channels) of shown_size(), as patches are cut from it.
void write_image(const ImageSet& images, std::int64_t i, const Augmentation& augmentation,
                 const AugmentationChoice& choice, std::span<float> out) {
    const ShownSize size = shown_size(images, augmentation);
    const std::int64_t height = size.height, width = size.width, C = images.channels;
    // Columns of the crop that lie in the image; the others, and rows that do not, are padding.
    const std::int64_t first = std::max<std::int64_t>(0, -choice.right), last = std::min(width, width - choice.right);
    const auto channel_pixels = static_cast<std::size_t>(images.height * images.width);
    for (std::int64_t c = 0; c < C; ++c) {
        const auto channel = static_cast<std::size_t>(c);
        const double deviation = augmentation.channels.deviation[channel];
        const double scale = 1 / (255 * deviation), shift = -augmentation.channels.mean[channel] / deviation;
        const StretchedChannel from{images.image(i).subspan(channel * channel_pixels, channel_pixels), images.height,
                                    images.width, size};
        for (std::int64_t y = 0; y < height; ++y) {
            float* row = out.data() + y * width * C + c;  // every C-th of (width C)
            const auto put = [&](std::int64_t x, double value) {
                row[(choice.flipped ? width - 1 - x : x) * C] = static_cast<float>(value);
            };
            const std::int64_t from_y = y + choice.down;
            const bool is_padding = from_y < 0 || from_y >= height;
            const Between from_row = is_padding ? Between{} : between(from_y, images.height, height);
            for (std::int64_t x = 0; x < width; ++x)
                put(x, is_padding || x < first || x >= last ? shift
                                                            : from.value(from_row, x + choice.right) * scale + shift);
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
    if (augmentation.resize != 0 && augmentation.resize < std::max(images.height, images.width))
        throw Error(ErrorKind::config,
                    fmt::format("images of {} x {} cannot be resized to {} x {}", images.height, images.width,
                                augmentation.resize, augmentation.resize),
                    "give 0, which leaves them as they are, or a side as long as theirs or longer");
    const ShownSize size = shown_size(images, augmentation);
    const std::int64_t side = std::min(size.height, size.width);
    if (augmentation.crop_padding < 0 || augmentation.crop_padding >= side)
        throw Error(ErrorKind::config,
                    fmt::format("a crop padding of {} for images of {} x {}", augmentation.crop_padding, size.height,
                                size.width),
                    fmt::format("give 0 to {}: with more, a crop may hold nothing of its image", side - 1));
}

ShownSize shown_size(const ImageSet& images, const Augmentation& augmentation) {
    if (augmentation.resize == 0) return {images.height, images.width};
    return {augmentation.resize, augmentation.resize};
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
    write_image(images, i, augmentation, augmentation_choice(augmentation, key), out);
}

}  // namespace deft::engine
