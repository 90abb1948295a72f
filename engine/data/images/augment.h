#pragma once
// Images as a model takes them: normalised by channel, and for training cropped and flipped at random (He et al. 2016,
// section 4.2).

#include <cstdint>
#include <span>

#include "engine/data/images/image_set.h"
#include "kernels/philox.h"

namespace deft::engine {

struct Augmentation {
    std::int64_t crop_padding = 0;  // zeros laid around an image before a crop of its size is taken from it
    bool flip = false;              // left to right, with probability one half: not for digits
    ChannelStatistics channels;     // pixels become (pixel / 255 - mean) / deviation
};

// What the random choices depend on, and nothing else: neither the image, nor the batch, nor who draws.
struct AugmentationKey {
    std::uint64_t seed = 0;
    std::int64_t draw = 0;  // of the run, below 2^48
};

// Errors: config, for statistics that are not one a channel, a deviation that is not above zero, or a padding that a
// crop could lie in whole.
void check_augmentation(const Augmentation& augmentation, const ImageSet& images);

// What was chosen for a draw.
struct AugmentationChoice {
    std::int64_t down = 0, right = 0;  // of the crop's corner from the image's, from -crop_padding to crop_padding
    bool flipped = false;              // after the crop
};
AugmentationChoice augmentation_choice(const Augmentation& augmentation, const AugmentationKey& key);

// Image i for training; `out` is (height, width, channels), as the op patchify reads images. Both take what check_augmentation() lets pass.
void write_augmented(const ImageSet& images, std::int64_t i, const Augmentation& augmentation,
                     const AugmentationKey& key, std::span<float> out);
// Image i for evaluation, normalised alone.
void write_normalised(const ImageSet& images, std::int64_t i, const ChannelStatistics& channels, std::span<float> out);

}  // namespace deft::engine
