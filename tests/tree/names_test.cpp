// ctest hands a test's name to its program, which takes one that begins with a dash for an option.

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/catch.h"

namespace fs = std::filesystem;

namespace {

bool is_named_like_an_option(const std::string& line) {
    return line.rfind(std::string("TEST_CASE") + "(\"-", 0) == 0;
}

}  // namespace

TEST_CASE("no test is named like an option") {
    int files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(DEFT_SOURCE_DIR) / "tests")) {
        if (entry.path().extension() != ".cpp") continue;
        ++files;
        std::ifstream in(entry.path());
        for (std::string line; std::getline(in, line);) {
            INFO(entry.path().string() << ": " << line);
            CHECK(!is_named_like_an_option(line));
        }
    }
    CHECK(files > 50);
    CHECK(is_named_like_an_option(std::string("TEST_CASE") + "(\"--only takes rows\") {"));
}
