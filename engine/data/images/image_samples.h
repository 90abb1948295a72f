#pragma once
// Images as samples: what a model trains on or is tested by, and how each is shown.

#include <cstdint>

#include "engine/data/images/augment.h"
#include "engine/data/images/image_set.h"

namespace deft::engine {

struct ImageSamples {
    ImageSet images;
    Augmentation augmentation;  // of images for testing size and normalisation alone

    std::int64_t size() const { return images.count(); }
    // Values of one image as it is shown.
    std::int64_t image_values() const {
        const ShownSize shown = shown_size(images, augmentation);
        return images.channels * shown.height * shown.width;
    }
};

}  // namespace deft::engine
