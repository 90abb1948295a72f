#pragma once
// Images as a model takes them: brought to its size, normalised by channel, and for training cropped and flipped at
// random (He et al. 2016, section 4.2).

#include <cstdint>
#include <span>

#include "engine/data/images/image_set.h"
#include "kernels/philox.h"

namespace deft::engine {

struct Augmentation {
    std::int64_t crop_padding = 0;  // zeros laid around an image of its new size before a crop of that size is taken
    bool flip = false;              // left to right, with probability one half: not for digits
    ChannelStatistics channels;     // pixels become (pixel / 255 - mean) / deviation
    // Pixels of both sides that images are stretched to first, by the nearest four, whose weights are linear in the
    // distance of their centres; 0: they stay as they are.
    std::int64_t resize = 0;
};

// The size of images after resizing and cropping.
struct ShownSize {
    std::int64_t height = 0, width = 0;  // pixels
};
ShownSize shown_size(const ImageSet& images, const Augmentation& augmentation);

// The only inputs of the random choices: neither the image, nor the batch, nor the caller matters.
struct AugmentationKey {
    std::uint64_t seed = 0;
    std::int64_t draw = 0;  // of the run, below 2^48
};

// Errors: config, for statistics that are not one a channel, a deviation that is not above zero, a padding that a crop
// could lie in whole, or a size that is smaller than the images', of which the nearest pixels would leave some out.
void check_augmentation(const Augmentation& augmentation, const ImageSet& images);

// The augmentation chosen for a draw.
struct AugmentationChoice {
    std::int64_t down = 0, right = 0;  // of the crop's corner from the image's, from -crop_padding to crop_padding
    bool flipped = false;              // after the crop
};
AugmentationChoice augmentation_choice(const Augmentation& augmentation, const AugmentationKey& key);

// Image i for training, of what check_augmentation() lets pass; `out` is (height, width, channels) of shown_size(), as
// the op patchify reads images. Without padding and flip: for evaluation, whatever the key.
void write_augmented(const ImageSet& images, std::int64_t i, const Augmentation& augmentation,
                     const AugmentationKey& key, std::span<float> out);

}  // namespace deft::engine
