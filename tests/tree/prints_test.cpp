// Libraries give values and errors; what a user reads is printed by sweeps alone, and by the child process of a trial.

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/catch.h"

namespace fs = std::filesystem;

namespace {

bool prints(const std::string& line) {
    for (const char* word : {"std::cout", "std::cerr", "fmt::print(", "std::printf(", "std::puts(", "std::fprintf("})
        if (line.find(word) != std::string::npos) return true;
    return false;
}

}  // namespace

TEST_CASE("the engine, the kernels and the readers print nothing", "[reference-defect]") {
    int files = 0;
    for (const char* folder : {"base", "kernels", "engine", "results_db", "reporting"})
        for (const auto& entry : fs::recursive_directory_iterator(fs::path(DEFT_SOURCE_DIR) / folder)) {
            const std::string extension = entry.path().extension().string();
            if (extension != ".h" && extension != ".cpp" && extension != ".cu") continue;
            ++files;
            std::ifstream in(entry.path());
            for (std::string line; std::getline(in, line);) {
                INFO(entry.path().string() << ": " << line);
                CHECK(!prints(line));
            }
        }
    CHECK(files > 50);
    CHECK(prints("    fmt::print(stderr, \"{}\", data);"));
}
