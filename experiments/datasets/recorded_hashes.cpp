#include "experiments/datasets/recorded_hashes.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"

namespace deft::experiments {

namespace {

namespace fs = std::filesystem;

fs::path hashes_file(const fs::path& folder) {
    return folder / "datasets.sha256.json";
}

Json read_hashes(const fs::path& folder) {
    const fs::path file = hashes_file(folder);
    if (!fs::exists(file)) return Json::object();
    Json hashes = Json::parse(read_file(file), nullptr, false);
    bool whole = hashes.is_object();
    if (whole)
        for (const auto& [name, sha256] : hashes.items()) whole = whole && sha256.is_string();
    if (!whole)
        throw Error(ErrorKind::io, fmt::format("{} is damaged", file.string()),
                    "delete it: hashes are recorded anew, of the files as they are then");
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
    write_file_atomically(hashes_file(folder), hashes.dump(2) + "\n");
}

}  // namespace deft::experiments
