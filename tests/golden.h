#pragma once
// Golden vectors and data files of the mirror; tests that need them are skipped without DEFT_DATA_MIRROR.

#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "tests/catch.h"

namespace deft::golden {

inline std::filesystem::path mirror() {
    const char* folder = std::getenv("DEFT_DATA_MIRROR");
    return folder == nullptr ? "" : folder;
}

inline bool has_data(const std::string& name) {
    return !mirror().empty() && std::filesystem::exists(mirror() / name);
}

// Files without third-party text are in the repository; the rest is beside the mirror. Empty where neither has it.
inline std::filesystem::path file(const std::string& name) {
    const std::filesystem::path own = std::filesystem::path(DEFT_SOURCE_DIR) / "tests" / "golden" / name;
    if (std::filesystem::exists(own)) return own;
    return mirror().empty() ? "" : mirror() / ".." / "reference" / "golden" / name;
}

inline std::optional<Json> read(const std::string& name) {
    if (!std::filesystem::exists(file(name))) return std::nullopt;
    return Json::parse(read_file(file(name)));
}

inline std::vector<Json> read_lines(const std::string& name) {
    std::vector<Json> lines;
    if (!std::filesystem::exists(file(name))) return lines;
    std::istringstream in(read_file(file(name)));
    for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
    return lines;
}

// NaN and infinities are written as strings.
inline double number(const Json& value) {
    if (!value.is_string()) return value.get<double>();
    if (value == "NaN") return std::numeric_limits<double>::quiet_NaN();
    return value == "Infinity" ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
}

inline std::vector<double> numbers(const Json& array) {
    std::vector<double> values;
    for (const Json& item : array) values.push_back(number(item));
    return values;
}

// A test of one group of a file's cases: check(case) for each.
template <class Check>
void for_group(const std::string& file_name, const std::string& group, Check&& check) {
    const auto groups = read(file_name);
    if (!groups) DEFT_SKIP("no golden vectors: set DEFT_DATA_MIRROR");
    for (const Json& c : groups->at(group)) {
        INFO(group << ": " << c.dump());
        check(c);
    }
}

}  // namespace deft::golden
