#pragma once
// Labelled images of one size, as the files of MNIST and CIFAR hold them.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace deft::engine {

struct ImageSet {
    std::int64_t channels = 0, height = 0, width = 0;
    std::int64_t classes = 0;          // labels lie in [0, classes)
    std::vector<std::uint8_t> pixels;  // (N, channels, height, width)
    std::vector<std::int32_t> labels;  // (N)

    std::int64_t count() const { return static_cast<std::int64_t>(labels.size()); }
    std::int64_t image_pixels() const { return channels * height * width; }
    std::span<const std::uint8_t> image(std::int64_t i) const {  // (channels, height, width)
        return std::span(pixels).subspan(static_cast<std::size_t>(i * image_pixels()),
                                         static_cast<std::size_t>(image_pixels()));
    }
};

// Appends the images of a file; an empty set takes the file's size and classes. Errors: io, naming the
// file, where they have another size or number of classes.
void append(ImageSet& images, const ImageSet& more, const std::string& file);

enum class ImagePart { training, testing };

// Image i is for testing where i + 1 is a multiple of `every`, else for training. Errors: config, for an `every` under
// 2, and where a class would be missing from a part, as it may be where the files' order of classes is regular.
ImageSet select(const ImageSet& images, std::int64_t every, ImagePart part);

// Mean and deviation of pixels as fractions of 255.
struct ChannelStatistics {
    std::vector<double> mean, deviation;  // (channels)
};

// The deviation divides by the number of pixels. Of no images: zeros.
ChannelStatistics channel_statistics(const ImageSet& images);

}  // namespace deft::engine
