#include "experiments/datasets/block_hashes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <thread>

#include "base/mapped_file.h"
#include "base/sha256.h"
#include "engine/data_efficiency/sampling/parallel_tasks.h"

namespace deft::experiments {

std::vector<std::string> block_hashes(const std::filesystem::path& file, std::int64_t block_bytes) {
    const MappedFile mapped(file);
    const std::string_view bytes(reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size());
    const auto size = static_cast<std::int64_t>(bytes.size());
    std::vector<std::string> hashes(static_cast<std::size_t>((size + block_bytes - 1) / block_bytes));
    const int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    engine::run_tasks(threads, static_cast<std::int64_t>(hashes.size()), [&](int, std::int64_t i) {
        hashes[static_cast<std::size_t>(i)] =
            sha256(bytes.substr(static_cast<std::size_t>(i * block_bytes), static_cast<std::size_t>(block_bytes)));
    });
    return hashes;
}

std::optional<std::string> difference_from(const std::filesystem::path& file, const std::vector<std::string>& hashes,
                                           std::int64_t block_bytes) {
    const std::vector<std::string> found = block_hashes(file, block_bytes);
    const std::string name = file.filename().string();
    if (found.size() != hashes.size())
        return fmt::format("{} has {} blocks of {} bytes where {} were written", name, found.size(), block_bytes,
                           hashes.size());
    const auto different = std::mismatch(found.begin(), found.end(), hashes.begin()).first;
    if (different == found.end()) return {};
    return fmt::format("block {} of {} of {} is not what was written", different - found.begin() + 1, found.size(),
                       name);
}

}  // namespace deft::experiments
