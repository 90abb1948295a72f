// One version: CMakeLists.txt has it, and the program, the wheel and the changelog agree.

#include <regex>

#include "tests/catch.h"
#include "tests/install/ran.h"

using namespace deft::test;
namespace fs = std::filesystem;

namespace {

std::string text_of(const char* file) {
    return read_text(fs::path(DEFT_SOURCE_DIR) / file);
}

// The first group of the first match; empty without a match.
std::string first_match(const std::string& text, const std::string& pattern) {
    std::smatch found;
    return std::regex_search(text, found, std::regex(pattern)) ? found[1].str() : "";
}

}  // namespace

TEST_CASE("the program, the wheel and the changelog have the version of CMakeLists.txt") {
    const std::string cmake = text_of("CMakeLists.txt");
    const std::string version = first_match(cmake, R"(project\(deft VERSION ([0-9]+\.[0-9]+\.[0-9]+) )");
    REQUIRE(!version.empty());

    CHECK(first_match(text_of("CHANGELOG.md"), R"(\n## ([^\n]*)\n)") == version);
    const deft::ProcessOutput printed = deft::run_process({DEFT_PROGRAM, "--version"});
    CHECK(first_match(printed.out, "^deft ([^ ]+) ") == version);

    // The wheel reads it from CMakeLists.txt, by this pattern, and states none of its own.
    const std::string pyproject = text_of("pyproject.toml");
    CHECK(first_match(pyproject, R"(\n(version *=))").empty());
    CHECK_THAT(pyproject, ContainsSubstring("\ndynamic = [\"version\"]\n"));
    CHECK_THAT(pyproject, ContainsSubstring("\ninput = \"CMakeLists.txt\"\n"));
    std::string pattern = first_match(pyproject, R"(\nregex = '([^']*)')");
    const std::string named = "?P<value>";
    REQUIRE(pattern.find(named) != std::string::npos);
    pattern.erase(pattern.find(named), named.size());
    CHECK(first_match(cmake, pattern) == version);
}
