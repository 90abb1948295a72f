#include "engine/data/images/cifar_file.h"

#include <fmt/format.h>

#include <string>

#include "base/files.h"

namespace deft::engine {

namespace {

constexpr std::size_t kCifarPixels = 3 * 32 * 32;

struct CifarLabel {
    const char* name;
    std::int32_t classes;
};

// The bytes before a record's pixels; the last is the one that is read.
std::span<const CifarLabel> cifar_labels(CifarFormat format) {
    static constexpr CifarLabel kTen[] = {{"label", 10}};
    static constexpr CifarLabel kHundred[] = {{"coarse label", 20}, {"fine label", 100}};
    if (format == CifarFormat::cifar10) return kTen;
    return kHundred;
}

const char* cifar_name(CifarFormat format) {
    return format == CifarFormat::cifar10 ? "CIFAR-10" : "CIFAR-100";
}

}  // namespace

ImageSet read_cifar(const ImageFile& file, CifarFormat format) {
    require_unpacked(file);
    const std::span<const CifarLabel> labels = cifar_labels(format);
    const std::size_t record = labels.size() + kCifarPixels, count = file.bytes.size() / record;
    const std::string right_file = fmt::format("give a binary file of {}, whole", cifar_name(format));
    if (file.bytes.empty()) refuse_images(file, "empty", right_file);
    if (file.bytes.size() % record != 0)
        refuse_images(file,
                      fmt::format("{} bytes are no whole number of {}'s records of {} bytes: truncated, too long, or "
                                  "another format",
                                  file.bytes.size(), cifar_name(format), record),
                      right_file);
    ImageSet set;
    set.channels = 3;
    set.height = set.width = 32;
    set.classes = labels.back().classes;
    set.labels.reserve(count);
    set.pixels.reserve(count * kCifarPixels);
    for (std::size_t i = 0; i < count; ++i) {
        const std::span<const std::byte> bytes = file.bytes.subspan(i * record, record);
        std::int32_t value = 0;
        for (std::size_t l = 0; l < labels.size(); ++l) {
            value = std::to_integer<std::int32_t>(bytes[l]);
            if (value >= labels[l].classes)
                refuse_images(file,
                              fmt::format("the {} of record {} is {}, and {} has {}", labels[l].name, i, value,
                                          cifar_name(format), labels[l].classes),
                              right_file);
        }
        set.labels.push_back(value);
        const auto* pixels = reinterpret_cast<const std::uint8_t*>(bytes.data() + labels.size());
        set.pixels.insert(set.pixels.end(), pixels, pixels + kCifarPixels);
    }
    return set;
}

ImageSet read_cifar_file(const std::filesystem::path& file, CifarFormat format) {
    const std::string content = read_text_file(file);
    return read_cifar(image_file(file, content), format);
}

}  // namespace deft::engine
