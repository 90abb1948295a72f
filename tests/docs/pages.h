#pragma once
// README.md and the pages of docs/, as text and as blocks of code.

#include <filesystem>
#include <string>
#include <vector>

namespace deft::test {

struct Block {
    std::string place;     // page:line of its first fence
    std::string language;  // the word after the fence
    std::string comment;   // the HTML comment on the line before, without its marks
    std::vector<std::string> lines;
};

struct Page {
    std::filesystem::path file;
    std::string name;                // relative to the source tree
    std::vector<std::string> prose;  // lines outside blocks; empty in place of those inside
    std::vector<Block> blocks;
};

Page read_page(const std::filesystem::path& file);
std::vector<Page> all_pages();  // README.md, CHANGELOG.md, CONTRIBUTING.md and docs/*.md

}  // namespace deft::test
