#include "engine/data/images/idx_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace deft::engine {

namespace {

constexpr std::size_t kIdxMagicBytes = 4;
constexpr std::byte kIdxUnsignedBytes{8};
constexpr const char* kWholeIdxFile = "copy or download the file again";

struct IdxArray {
    std::vector<std::uint64_t> sizes;   // (D)
    std::span<const std::byte> values;  // (sizes...)
};

std::uint32_t load_big_endian(const std::byte* at) {
    return std::to_integer<std::uint32_t>(at[0]) << 24 | std::to_integer<std::uint32_t>(at[1]) << 16 |
           std::to_integer<std::uint32_t>(at[2]) << 8 | std::to_integer<std::uint32_t>(at[3]);
}

// `what`: "images" or "labels", which have that number of dimensions.
IdxArray parse_idx(const ImageFile& file, const char* what, std::size_t dimensions) {
    require_unpacked(file);
    const std::span<const std::byte> bytes = file.bytes;
    if (bytes.size() < kIdxMagicBytes || bytes[0] != std::byte{0} || bytes[1] != std::byte{0})
        refuse_images(file, "no IDX file: it does not begin with two zero bytes, a type and a number of dimensions",
                      fmt::format("give an IDX file of {}, as MNIST has them", what));
    if (bytes[2] != kIdxUnsignedBytes)
        refuse_images(file,
                      fmt::format("its values have type code {}, which is not read", std::to_integer<int>(bytes[2])),
                      "write the file with unsigned bytes (8)");
    if (const auto found = std::to_integer<std::size_t>(bytes[3]); found != dimensions)
        refuse_images(file, fmt::format("it has {}, and {} have {}", counted(found, "dimension"), what, dimensions),
                      "give the file of images (three dimensions) first, then that of labels (one)");
    const std::size_t header = kIdxMagicBytes + 4 * dimensions;
    if (bytes.size() < header) refuse_images(file, "truncated in its header", kWholeIdxFile);
    IdxArray array;
    array.values = bytes.subspan(header);
    // How many values are left for the dimensions to come: divided, so that no product overflows.
    std::uint64_t left = array.values.size();
    bool exact = true;
    for (std::size_t d = dimensions; d-- > 0;) {
        const std::uint64_t size = load_big_endian(bytes.data() + kIdxMagicBytes + 4 * d);
        if (size == 0) refuse_images(file, fmt::format("dimension {} of its {} is zero", d, what), kWholeIdxFile);
        array.sizes.insert(array.sizes.begin(), size);
        exact = exact && left % size == 0;
        left /= size;
    }
    if (left != 1 || !exact)
        refuse_images(file,
                      fmt::format("{}: {} values where its header declares {}", left == 0 ? "truncated" : "too long",
                                  array.values.size(), fmt::join(array.sizes, " x ")),
                      kWholeIdxFile);
    return array;
}

}  // namespace

ImageSet read_idx(const ImageFile& images, const ImageFile& labels, std::int64_t classes) {
    if (classes < 1) throw Error(ErrorKind::config, fmt::format("images of {} classes", classes), "give at least one");
    const IdxArray pixels = parse_idx(images, "images", 3), answers = parse_idx(labels, "labels", 1);
    if (pixels.sizes[0] != answers.sizes[0])
        refuse_images(labels,
                      fmt::format("{}, and {} has {}", counted(answers.sizes[0], "label"), images.name,
                                  counted(pixels.sizes[0], "image")),
                      "give the labels of those images");
    ImageSet set;
    set.channels = 1;
    set.height = static_cast<std::int64_t>(pixels.sizes[1]);
    set.width = static_cast<std::int64_t>(pixels.sizes[2]);
    set.classes = classes;
    set.labels.reserve(answers.values.size());
    for (std::size_t i = 0; i < answers.values.size(); ++i) {
        const auto label = std::to_integer<std::int32_t>(answers.values[i]);
        if (label >= classes)
            refuse_images(labels, fmt::format("label {} is {}, and there are {} classes", i, label, classes),
                          "give the right number of classes, or the labels of these images");
        set.labels.push_back(label);
    }
    const auto* first = reinterpret_cast<const std::uint8_t*>(pixels.values.data());
    set.pixels.assign(first, first + pixels.values.size());
    return set;
}

ImageSet read_idx_files(const std::filesystem::path& images, const std::filesystem::path& labels,
                        std::int64_t classes) {
    const std::string pixels = read_text_file(images), answers = read_text_file(labels);
    return read_idx(image_file(images, pixels), image_file(labels, answers), classes);
}

}  // namespace deft::engine
