// Comments, messages and documents share plain English; phrases.txt lists what none of them contains.

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/catch.h"

namespace fs = std::filesystem;

namespace {

const fs::path kRoot = DEFT_SOURCE_DIR;

std::vector<std::string> lines_of(const fs::path& file) {
    std::vector<std::string> lines;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);)
        if (!line.empty() && line[0] != '#') lines.push_back(line);
    return lines;
}

// One expression that matches any listed phrase.
std::regex rejected_phrases() {
    std::string any;
    for (const std::string& phrase : lines_of(kRoot / "tests/tree/phrases.txt"))
        any += (any.empty() ? "(?:" : "|(?:") + phrase + ")";
    return std::regex(any, std::regex::ECMAScript | std::regex::optimize);
}

// Text that people write and read; records, pictures and measured files keep their own words.
bool is_written_text(const fs::path& file) {
    static const std::set<std::string> extensions = {".h",  ".cpp", ".cu",  ".cuh", ".toml", ".md", ".cmake",
                                                     ".py", ".sh",  ".sql", ".yml", ".yaml", ".in", ""};
    return extensions.contains(file.extension().string()) || file.filename() == "CMakeLists.txt";
}

}  // namespace

TEST_CASE("no line of the source tree contains a rejected phrase") {
    const std::regex rejected = rejected_phrases();
    const std::vector<std::string> excepted = lines_of(kRoot / "tests/tree/phrases_excepted.txt");  // paths that wait
    const auto is_excepted = [&](const std::string& path) {
        for (const std::string& prefix : excepted)
            if (path.rfind(prefix, 0) == 0) return true;
        return false;
    };
    int files = 0;
    std::map<std::string, int> counts;  // rejected lines per top-level folder
    for (const char* top :
         {".ci",         ".github",        "base",      "cmake",           "docs",         "engine", "evidence",
          "experiments", "kernels",        "packaging", "reporting",       "results_db",   "schema", "sweeps",
          "tests",       "CMakeLists.txt", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "deft"}) {
        if (!fs::exists(kRoot / top)) continue;
        std::vector<fs::path> found;
        if (fs::is_regular_file(kRoot / top))
            found.push_back(kRoot / top);
        else
            for (const auto& entry : fs::recursive_directory_iterator(kRoot / top))
                if (entry.is_regular_file()) found.push_back(entry.path());
        for (const fs::path& file : found) {
            const std::string path = fs::relative(file, kRoot).string();
            if (!is_written_text(file)) continue;
            ++files;
            if (is_excepted(path)) continue;
            std::ifstream in(file);
            int number = 0;
            for (std::string line; std::getline(in, line);) {
                ++number;
                if (!std::regex_search(line, rejected)) continue;
                ++counts[top];
                FAIL_CHECK(path << ":" << number << ": " << line);
            }
        }
    }
    for (const auto& [folder, count] : counts) UNSCOPED_INFO(folder << ": " << count);
    CHECK(counts.empty());
    CHECK(files > 50);
}

TEST_CASE("the list of phrases rejects what it names and leaves comparatives alone") {
    const std::regex rejected = rejected_phrases();
    const std::string comment = "// ";
    for (const std::string& line : {comment + "Wh"
                                              "at the reader sees.",
                                    std::string("the trial is n") + "o winner", std::string("it was tol") + "d apart",
                                    std::string("8 experts of whic") + "h a row takes one"})
        CHECK(std::regex_search(line, rejected));
    for (const std::string line : {"the recipe is n"
                                   "o worse than the baseline",
                                   "a recommended amendment", "// Whatever fits."})
        CHECK(!std::regex_search(line, rejected));
}
