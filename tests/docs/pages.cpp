#include "tests/docs/pages.h"

#include <algorithm>
#include <fstream>

namespace deft::test {

namespace fs = std::filesystem;

namespace {

std::string comment_of(const std::string& line) {
    const bool is_comment = line.starts_with("<!-- ") && line.ends_with(" -->");
    return is_comment ? line.substr(5, line.size() - 9) : "";
}

}  // namespace

Page read_page(const fs::path& file) {
    Page page{file, fs::relative(file, DEFT_SOURCE_DIR).string(), {}, {}};
    std::ifstream in(file);
    std::string fence, before;
    for (std::string line; std::getline(in, line); before = line) {
        const std::string place = page.name + ":" + std::to_string(page.prose.size() + 1);
        const bool is_fence = fence.empty() ? line.starts_with("```") : line == fence;
        page.prose.push_back(is_fence || !fence.empty() ? "" : line);
        if (is_fence && fence.empty()) {
            fence = line.substr(0, line.find_first_not_of('`'));
            page.blocks.push_back({place, line.substr(fence.size()), comment_of(before), {}});
        } else if (is_fence) {
            fence.clear();
        } else if (!fence.empty()) {
            page.blocks.back().lines.push_back(line);
        }
    }
    return page;
}

std::vector<Page> all_pages() {
    const fs::path root = DEFT_SOURCE_DIR;
    std::vector<fs::path> files = {root / "README.md", root / "CHANGELOG.md", root / "CONTRIBUTING.md"};
    for (const auto& entry : fs::directory_iterator(root / "docs"))
        if (entry.path().extension() == ".md") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    std::vector<Page> pages;
    for (const fs::path& file : files) pages.push_back(read_page(file));
    return pages;
}

}  // namespace deft::test
