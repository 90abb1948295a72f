#include "experiments/datasets/text_digest.h"

#include <vector>

#include "base/sha256.h"
#include "base/text_stream.h"

namespace deft::experiments {

TextDigest text_digest(const std::filesystem::path& file) {
    TextStream stream(file);
    Sha256 hash;
    TextDigest digest;
    std::vector<char> buffer(1 << 18);
    while (const std::size_t count = stream.read(buffer.data(), buffer.size())) {
        hash.add({buffer.data(), count});
        digest.bytes += static_cast<std::int64_t>(count);
    }
    digest.sha256 = hash.hex();
    return digest;
}

}  // namespace deft::experiments
