#include "experiments/datasets/file_hashes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/text_stream.h"
#include "base/usable_machine.h"
#include "engine/data_efficiency/sampling/parallel_tasks.h"

namespace deft::experiments {

std::vector<std::string> block_hashes(const std::filesystem::path& file, std::int64_t block_bytes) {
    const MappedFile mapped(file);
    const std::string_view bytes(reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size());
    const auto size = static_cast<std::int64_t>(bytes.size());
    std::vector<std::string> hashes(static_cast<std::size_t>((size + block_bytes - 1) / block_bytes));
    engine::run_tasks(usable_cores(), static_cast<std::int64_t>(hashes.size()), [&](int, std::int64_t i) {
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

namespace {

namespace fs = std::filesystem;

fs::path hashes_file(const fs::path& folder) {
    return folder / "datasets.sha256.json";
}

Json read_hashes(const fs::path& folder) {
    const fs::path file = hashes_file(folder);
    if (!fs::exists(file)) return Json::object();
    Json hashes = try_parse_json(read_file(file));
    bool whole = hashes.is_object();
    if (whole)
        for (const auto& [name, sha256] : hashes.items()) whole = whole && sha256.is_string();
    if (!whole)
        throw Error(ErrorKind::io, fmt::format("{} is damaged", file.string()),
                    "delete it: hashes of the files are then recorded again");
    return hashes;
}

}  // namespace

std::string recorded_sha256(const fs::path& folder, const std::string& name) {
    const Json hashes = read_hashes(folder);
    return hashes.contains(name) ? hashes.at(name).get<std::string>() : std::string();
}

void record_sha256(const fs::path& folder, const std::string& name, const std::string& sha256) {
    Json hashes = read_hashes(folder);
    hashes[name] = sha256;
    write_file_atomically(hashes_file(folder), json_text(hashes, 2) + "\n");
}

}  // namespace deft::experiments
