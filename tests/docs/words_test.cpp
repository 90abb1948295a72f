// README.md and docs/ are short and plain: lines, sentences and the first screen have limits.

#include <algorithm>
#include <iterator>
#include <regex>
#include <sstream>

#include "tests/catch.h"
#include "tests/docs/pages.h"

using namespace deft::test;
namespace fs = std::filesystem;

namespace {

constexpr int kMostWords = 25;

// Paragraphs and items of lists, each on one line; tables, headings, comments and pictures are left out.
std::vector<std::string> paragraphs_of(const Page& page) {
    static const std::regex numbered("^[0-9]+\\. ");
    std::vector<std::string> paragraphs(1);
    for (const std::string& line : page.prose) {
        const bool is_item = line.starts_with("- ") || std::regex_search(line, numbered);
        const bool is_prose = !line.empty() && std::string("|#!<").find(line[0]) == std::string::npos;
        if (!is_prose || is_item) paragraphs.emplace_back();
        if (is_prose) paragraphs.back() += (is_item ? line.substr(line.find(' ') + 1) : line) + " ";
    }
    return paragraphs;
}

std::vector<std::string> sentences_of(const std::string& paragraph) {
    const std::string text = std::regex_replace(paragraph, std::regex(R"(\]\([^)]*\))"), "]");
    static const std::regex end(R"([.:;?!]\s+)");
    return {std::sregex_token_iterator(text.begin(), text.end(), end, -1), {}};
}

int words_of(const std::string& sentence) {
    std::istringstream words(sentence);
    return static_cast<int>(std::distance(std::istream_iterator<std::string>(words), {}));
}

std::ptrdiff_t width_of(const std::string& line) {
    return std::count_if(line.begin(), line.end(),
                         [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

}  // namespace

TEST_CASE("README.md has at most 150 lines") {
    CHECK(read_page(fs::path(DEFT_SOURCE_DIR) / "README.md").prose.size() <= 150);
}

TEST_CASE("the first screen that README.md shows fits 24 lines of 80 columns") {
    int screens = 0;
    for (const Block& block : read_page(fs::path(DEFT_SOURCE_DIR) / "README.md").blocks) {
        if (block.comment != "screen: quickstart") continue;
        ++screens;
        CHECK(block.lines.size() <= 24);
        for (const std::string& line : block.lines) {
            INFO(line);
            CHECK(width_of(line) <= 80);
        }
    }
    CHECK(screens == 1);
}

TEST_CASE("no sentence of README.md and docs has over 25 words") {
    int sentences = 0;
    for (const Page& page : all_pages()) {
        if (page.name == "docs/cli.md" || page.name == "docs/keys.md") continue;  // the program's own words
        for (const std::string& paragraph : paragraphs_of(page))
            for (const std::string& sentence : sentences_of(paragraph)) {
                ++sentences;
                INFO(page.name << ": " << sentence);
                CHECK(words_of(sentence) <= kMostWords);
            }
    }
    CHECK(sentences > 500);
}
