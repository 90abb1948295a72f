#include "base/control_groups.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace deft {

namespace {

namespace fs = std::filesystem;

// Version 1 writes its absent limit as a multiple of pages just below 2^63.
constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;

// A group of this process in the hierarchy that limits one resource.
struct Group {
    fs::path top;      // where the hierarchy is mounted
    std::string name;  // below it: "" or "/a/b"
    int version = 2;
};

bool names(const std::string& controllers, const std::string& controller) {
    const std::string list = "," + controllers + ",";
    return list.find("," + controller + ",") != std::string::npos;
}

// From lines "4:cpu,cpuacct:/a/b" of version 1 and "0::/a/b" of version 2.
std::vector<Group> groups_of(const fs::path& root, const std::string& controller) {
    const fs::path mounts = root / "sys/fs/cgroup";
    std::vector<Group> groups;
    std::ifstream in(root / "proc/self/cgroup");
    for (std::string line; std::getline(in, line);) {
        const std::size_t first = line.find(':'), second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        std::string name = line.substr(second + 1);
        // A group above the visible top shows its limits at the top.
        if (name == "/" || name.find("..") != std::string::npos) name.clear();
        if (controllers.empty()) {
            groups.push_back({mounts, name, 2});
            groups.push_back({mounts / "unified", name, 2});
        } else if (names(controllers, controller)) {
            groups.push_back({mounts / controllers, name, 1});
            if (controllers != controller) groups.push_back({mounts / controller, name, 1});
        }
    }
    return groups;
}

void up_from(const Group& group, const std::function<void(const fs::path& folder)>& look) {
    for (std::string name = group.name;; name.erase(name.rfind('/'))) {
        look(group.top.string() + name);
        if (name.rfind('/') == std::string::npos) return;
    }
}

std::optional<std::int64_t> number_of(const std::string& text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

// The words of a file; none where it cannot be read.
std::vector<std::string> words_of(const fs::path& file) {
    std::vector<std::string> words;
    std::ifstream in(file);
    for (std::string word; in >> word;) words.push_back(word);
    return words;
}

std::optional<std::int64_t> number_in(const fs::path& file) {
    const std::vector<std::string> words = words_of(file);
    return words.empty() ? std::nullopt : number_of(words[0]);
}

std::optional<double> quota_in(const fs::path& folder, int version) {
    std::optional<std::int64_t> quota, period;
    if (version == 2) {
        const std::vector<std::string> words = words_of(folder / "cpu.max");  // "max 100000", "150000 100000"
        if (words.size() < 2) return std::nullopt;
        quota = number_of(words[0]);
        period = number_of(words[1]);
    } else {
        quota = number_in(folder / "cpu.cfs_quota_us");  // -1: no limit
        period = number_in(folder / "cpu.cfs_period_us");
    }
    if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
    return static_cast<double>(*quota) / static_cast<double>(*period);
}

template <class Amount>
void keep_smaller(std::optional<Amount>& smallest, const std::optional<Amount>& other) {
    if (other) smallest = smallest ? std::min(*smallest, *other) : *other;
}

}  // namespace

std::optional<double> processor_quota(const fs::path& root) {
    std::optional<double> smallest;
    for (const Group& group : groups_of(root, "cpu"))
        up_from(group, [&](const fs::path& folder) { keep_smaller(smallest, quota_in(folder, group.version)); });
    return smallest;
}

std::optional<std::int64_t> group_memory(const fs::path& root) {
    std::optional<std::int64_t> smallest;
    for (const Group& group : groups_of(root, "memory"))
        up_from(group, [&](const fs::path& folder) {
            const auto limit = number_in(folder / (group.version == 2 ? "memory.max" : "memory.limit_in_bytes"));
            if (limit && *limit > 0 && *limit < kNoLimit) keep_smaller(smallest, limit);
        });
    return smallest;
}

}  // namespace deft
