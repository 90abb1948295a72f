// Links and anchors of README.md and docs/ resolve, and every page is reachable.

#include <cctype>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "tests/catch.h"
#include "tests/docs/pages.h"

using namespace deft::test;
namespace fs = std::filesystem;

namespace {

// A heading's anchor, as forges make it: lower case, spaces as dashes, other punctuation left out.
std::string anchor_of(const std::string& heading) {
    std::string anchor;
    for (const char c : heading.substr(heading.find_first_not_of("# "))) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x80 || std::isalnum(byte) != 0 || c == '-' || c == '_')
            anchor += static_cast<char>(std::tolower(byte));
        else if (c == ' ')
            anchor += '-';
    }
    return anchor;
}

std::set<std::string> anchors_of(const Page& page) {
    std::set<std::string> anchors;
    for (const std::string& line : page.prose)
        if (line.starts_with("#")) anchors.insert(anchor_of(line));
    return anchors;
}

std::vector<std::string> links_of(const Page& page) {
    static const std::regex link(R"(\]\(([^)\s]+)\))");
    std::vector<std::string> links;
    for (const std::string& line : page.prose)
        for (std::sregex_iterator it(line.begin(), line.end(), link), end; it != end; ++it) links.push_back((*it)[1]);
    return links;
}

// Whether a link of a page leads to a file, and to a heading where it names one.
bool resolves(const Page& page, const std::string& link) {
    if (link.starts_with("https://")) return true;
    const std::string path = link.substr(0, link.find('#'));
    const fs::path target = path.empty() ? page.file : page.file.parent_path() / path;
    if (!fs::exists(target)) return false;
    return link.find('#') == std::string::npos ||
           anchors_of(read_page(target)).contains(link.substr(link.find('#') + 1));
}

std::string text_of(const fs::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("every link and anchor of README.md and docs resolves") {
    int links = 0;
    for (const Page& page : all_pages())
        for (const std::string& link : links_of(page)) {
            ++links;
            INFO(page.name << ": " << link);
            CHECK(resolves(page, link));
        }
    CHECK(links > 100);
    const Page readme = read_page(fs::path(DEFT_SOURCE_DIR) / "README.md");
    CHECK_FALSE(resolves(readme, "docs/none.md"));
    CHECK_FALSE(resolves(readme, "docs/results.md#none"));
}

TEST_CASE("every page of docs is in the site's navigation and linked from README.md or the index") {
    const fs::path root = DEFT_SOURCE_DIR;
    const std::string navigation = text_of(root / "mkdocs.yml");
    std::set<std::string> linked;
    for (const char* from : {"README.md", "docs/index.md"}) {
        const Page page = read_page(root / from);
        for (const std::string& link : links_of(page))
            linked.insert(fs::path(link.substr(0, link.find('#'))).filename().string());
    }
    int pages = 0;
    for (const Page& page : all_pages()) {
        const std::string file = page.file.filename().string();
        if (!page.name.starts_with("docs/")) continue;
        ++pages;
        INFO(page.name);
        CHECK_THAT(navigation, ContainsSubstring(": " + file + "\n"));
        CHECK((file == "index.md" || linked.contains(file)));
    }
    CHECK(pages >= 25);
}
