// The labels by which ctest chooses tests follow from what their files do.

#include <algorithm>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "base/files.h"
#include "tests/catch.h"

using namespace deft;

namespace {

namespace fs = std::filesystem;

const fs::path kTests = fs::path(DEFT_SOURCE_DIR) / "tests";

// The text of a test's file and of the helpers that it includes, but for the header that defines the skip.
std::string with_helpers(const fs::path& file) {
    static const std::regex kInclude("#include \"tests/([^\"]+)\"");
    std::string text = read_file(file), all = text;
    for (std::sregex_iterator match(text.begin(), text.end(), kInclude), end; match != end; ++match)
        if ((*match)[1] != "catch.h") all += with_helpers(kTests / (*match)[1].str());
    return all;
}

const std::string kPython = std::string("run_") + "python(", kRanks = std::string("has_") + "ranks()";

// Whether it has a mark of a test that looks outside the repository's sources, or reads sweeps whose data may be
// missing.
bool looks_for_surroundings(const std::string& text) {
    const std::string marks[] = {std::string("DEFT_") + "SKIP(", std::string("DEFT_DATA_") + "MIRROR", kPython,
                                 std::string("SOURCE_DIR) / \"") + "sweeps\"",
                                 std::string("SOURCE_DIR \"/") + "sweeps/"};
    return std::any_of(std::begin(marks), std::end(marks),
                       [&](const std::string& mark) { return text.find(mark) != std::string::npos; });
}

// Names of test cases without that tag.
std::vector<std::string> untagged(const std::string& text, const std::string& tag) {
    static const std::regex kCase(
        "\nTEST_CASE"
        R"re(\(\s*("(?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*)(?:,\s*("[^"]*"|\w+))?\))re");
    std::vector<std::string> names;
    for (std::sregex_iterator match(text.begin(), text.end(), kCase), end; match != end; ++match)
        if ((*match)[2].str().find(tag) == std::string::npos) names.push_back((*match)[1].str());
    return names;
}

}  // namespace

TEST_CASE("every test that looks for its surroundings says so") {
    std::size_t files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(kTests)) {
        if (!entry.path().string().ends_with("_test.cpp") || entry.path().parent_path().filename() == "tree") continue;
        if (!looks_for_surroundings(with_helpers(entry.path()))) continue;
        const std::string text = read_file(entry.path());
        ++files;
        std::vector<std::string> tags = {"[bare]"};
        if (with_helpers(entry.path()).find(kPython) != std::string::npos) tags.emplace_back("[python]");
        for (const std::string& tag : tags)
            for (const std::string& name : untagged(text, tag)) {
                INFO(entry.path().string() << ": " << name << " lacks the tag " << tag);
                CHECK(name.empty());
            }
        INFO(entry.path().string());
        CHECK((text.find(kRanks) == std::string::npos || text.find("[bare][mpi]") != std::string::npos));
    }
    CHECK(files > 30);
}

TEST_CASE("a test case without its tag would be seen") {
    const std::string begin = std::string("\nTEST_CASE") + "(";
    CHECK(untagged(begin + "\"a\") {", "[x]") == std::vector<std::string>{"\"a\""});
    CHECK(untagged(begin + "\"a \\\"b\\\"\"\n    \"c\", \"[y][x]\") {", "[x]").empty());
    CHECK(untagged(begin + "\"a\", \"[y]\") {", "[x]").size() == 1);
    CHECK(untagged(begin + "\n    \"a\") {" + begin + "\"b\", kTag) {", "[x]").size() == 2);
}
