#include "engine/data/images/image_set.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/error.h"

namespace deft::engine {

namespace {

std::string size_text(const ImageSet& images) {
    return fmt::format("{} x {} x {} of {} classes", images.channels, images.height, images.width, images.classes);
}

bool is_for_testing(std::int64_t image, std::int64_t every) {
    return (image + 1) % every == 0;
}

// A class that occurs must do so in both parts, or a score would cover other classes than were learned.
void require_classes_in_both_parts(const ImageSet& images, std::int64_t every) {
    std::vector<std::int64_t> training(static_cast<std::size_t>(images.classes)), testing(training);  // (classes)
    for (std::int64_t i = 0; i < images.count(); ++i) {
        const auto label = static_cast<std::size_t>(images.labels[static_cast<std::size_t>(i)]);
        ++(is_for_testing(i, every) ? testing : training)[label];
    }
    for (std::size_t c = 0; c < training.size(); ++c)
        if ((training[c] == 0) != (testing[c] == 0))
            throw Error(ErrorKind::config,
                        fmt::format("with every {}th image for testing, class {} has {} images for training and {} for "
                                    "testing",
                                    every, c, training[c], testing[c]),
                        "choose another number: one that shares no divisor with the number of classes");
}

}  // namespace

void append(ImageSet& images, const ImageSet& more, const std::string& file) {
    if (images.count() == 0) {
        images = more;
        return;
    }
    if (images.channels != more.channels || images.height != more.height || images.width != more.width ||
        images.classes != more.classes)
        throw Error(ErrorKind::io,
                    fmt::format("{}: its images are {}, those of the files before it {}", file, size_text(more),
                                size_text(images)),
                    "give files of one data set");
    images.pixels.insert(images.pixels.end(), more.pixels.begin(), more.pixels.end());
    images.labels.insert(images.labels.end(), more.labels.begin(), more.labels.end());
}

ImageSet select(const ImageSet& images, std::int64_t every, ImagePart part) {
    if (every < 2)
        throw Error(ErrorKind::config, fmt::format("every {}th image for testing leaves none for training", every),
                    "give a number of at least 2");
    require_classes_in_both_parts(images, every);
    ImageSet selected;
    selected.channels = images.channels;
    selected.height = images.height;
    selected.width = images.width;
    selected.classes = images.classes;
    const std::int64_t testing = images.count() / every;
    const std::int64_t count = part == ImagePart::testing ? testing : images.count() - testing;
    selected.pixels.reserve(static_cast<std::size_t>(count * images.image_pixels()));
    selected.labels.reserve(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < images.count(); ++i) {
        if (is_for_testing(i, every) != (part == ImagePart::testing)) continue;
        const std::span<const std::uint8_t> image = images.image(i);
        selected.pixels.insert(selected.pixels.end(), image.begin(), image.end());
        selected.labels.push_back(images.labels[static_cast<std::size_t>(i)]);
    }
    return selected;
}

ChannelStatistics channel_statistics(const ImageSet& images) {
    const auto channels = static_cast<std::size_t>(images.channels);
    const auto plane = static_cast<std::size_t>(images.height * images.width);
    // Counts are exact, whatever the number of pixels.
    std::vector<std::array<std::int64_t, 256>> histogram(channels);  // (channels, 256)
    for (std::size_t p = 0; p < images.pixels.size(); ++p) ++histogram[p / plane % channels][images.pixels[p]];
    ChannelStatistics statistics{std::vector<double>(channels), std::vector<double>(channels)};
    const double count = static_cast<double>(images.count()) * static_cast<double>(plane);
    if (count == 0) return statistics;
    for (std::size_t c = 0; c < channels; ++c) {
        double sum = 0, squares = 0;
        for (int v = 0; v < 256; ++v) sum += static_cast<double>(histogram[c][static_cast<std::size_t>(v)]) * v;
        const double mean = sum / count;
        for (int v = 0; v < 256; ++v)
            squares += static_cast<double>(histogram[c][static_cast<std::size_t>(v)]) * (v - mean) * (v - mean);
        statistics.mean[c] = mean / 255;
        statistics.deviation[c] = std::sqrt(squares / count) / 255;
    }
    return statistics;
}

}  // namespace deft::engine
