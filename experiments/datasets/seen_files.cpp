#include "experiments/datasets/seen_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <ctime>
#include <exception>
#include <utility>

#include "base/files.h"
#include "base/json.h"

namespace deft::experiments {

namespace {

// A file that changes twice within one tick of the file system's clock shows it once: a younger change is not trusted.
constexpr std::int64_t kSettledSeconds = 3;

// Empty: the file is not there, or was changed just now. A change time cannot be set back, as a modification time can.
std::string stamp_of(const std::filesystem::path& file) {
    struct stat found {};
    if (::stat(file.c_str(), &found) != 0 || found.st_ctim.tv_sec > std::time(nullptr) - kSettledSeconds) return {};
    return fmt::format("{} {} {}.{:09} {}.{:09}", found.st_ino, found.st_size, found.st_mtim.tv_sec,
                       found.st_mtim.tv_nsec, found.st_ctim.tv_sec, found.st_ctim.tv_nsec);
}

}  // namespace

SeenFiles::SeenFiles(std::filesystem::path store) : store_(std::move(store)) {
    try {
        if (!std::filesystem::exists(store_)) return;
        const Json stored = try_parse_json(read_file(store_));
        if (!stored.is_object()) return;
        for (const auto& [file, seen] : stored.items())
            seen_[file] = {seen.at("stamp").get<std::string>(), seen.at("sha256").get<std::string>()};
    } catch (const std::exception&) {
        seen_.clear();
    }
}

std::string SeenFiles::sha256(const std::string& what, const std::filesystem::path& file,
                              const std::function<std::string()>& compute) {
    const std::string name = what + " " + std::filesystem::absolute(file).lexically_normal().string();
    const std::string before = stamp_of(file);
    const auto known = seen_.find(name);
    if (!before.empty() && known != seen_.end() && known->second.stamp == before) return known->second.sha256;
    std::string found = compute();
    if (!before.empty() && stamp_of(file) == before) {
        seen_[name] = {before, found};
        is_new_ = true;
    }
    return found;
}

void SeenFiles::save() const {
    if (store_.empty() || !is_new_) return;
    Json stored = Json::object();
    for (const auto& [file, seen] : seen_) stored[file] = {{"stamp", seen.stamp}, {"sha256", seen.sha256}};
    try {
        make_folder(store_.parent_path());
        write_file_atomically(store_, stored.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
    } catch (const std::exception&) {
    }
}

}  // namespace deft::experiments
