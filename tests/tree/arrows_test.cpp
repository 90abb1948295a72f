// The dependency arrows between folders hold in every include.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "tests/catch.h"

namespace fs = std::filesystem;

namespace {

// What each folder may include beside itself. tests may include everything.
const std::map<std::string, std::set<std::string>> kArrows = {
    {"base", {}},
    {"kernels", {"base"}},
    {"engine", {"base", "kernels"}},
    {"experiments", {"base", "kernels", "engine"}},
    {"results_db", {"base"}},
    {"reporting", {"base", "results_db"}},
    {"sweeps", {"base", "kernels", "engine", "experiments", "results_db", "reporting"}},
};

// The folder that an include line names, or empty.
std::string included_folder(const std::string& line) {
    const std::string start = "#include \"";
    if (line.rfind(start, 0) != 0) return {};
    const std::string path = line.substr(start.size());
    const std::size_t slash = path.find('/');
    return slash == std::string::npos ? std::string{} : path.substr(0, slash);
}

std::string violation(const std::string& folder, const std::string& line) {
    const std::string other = included_folder(line);
    if (other.empty() || other == folder || kArrows.at(folder).count(other) != 0) return {};
    return folder + " must not include " + other;
}

}  // namespace

TEST_CASE("includes follow the arrows") {
    const fs::path root = DEFT_SOURCE_DIR;
    int files = 0;
    for (const auto& [folder, allowed] : kArrows)
        for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
            const std::string extension = entry.path().extension().string();
            if (extension != ".h" && extension != ".cpp" && extension != ".cu" && extension != ".cuh") continue;
            ++files;
            std::ifstream in(entry.path());
            for (std::string line; std::getline(in, line);) {
                INFO(entry.path().string() << ": " << line);
                CHECK(violation(folder, line).empty());
            }
        }
    CHECK(files > 50);
}

TEST_CASE("a broken arrow would be seen") {
    CHECK(violation("engine", "#include \"sweeps/spec/spec.h\"") == "engine must not include sweeps");
    CHECK(violation("reporting", "#include \"engine/core/tensor.h\"") == "reporting must not include engine");
    CHECK(violation("engine", "#include \"kernels/types.h\"").empty());
    CHECK(violation("engine", "#include <vector>").empty());
}
