#include "engine/data/images/image_file.h"

#include <fmt/format.h>

#include "base/error.h"

namespace deft::engine {

ImageFile image_file(const std::filesystem::path& path, const std::string& content) {
    return {path.string(), std::as_bytes(std::span(content))};
}

void refuse_images(const ImageFile& file, const std::string& why, const std::string& fix) {
    throw Error(ErrorKind::io, fmt::format("{}: {}", file.name, why), fix);
}

void require_unpacked(const ImageFile& file) {
    if (file.bytes.size() >= 2 && file.bytes[0] == std::byte{0x1f} && file.bytes[1] == std::byte{0x8b})
        refuse_images(file, "its bytes are packed with gzip", "unpack the file, or give it a name that ends in .gz");
}

}  // namespace deft::engine
