// The plans that pages of docs/ show are those that the program prints.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/sweeps/program.h"

using namespace deft;
using namespace deft::test;
namespace fs = std::filesystem;

namespace {

// Cells are at least two spaces apart, and have single ones inside.
std::vector<std::string> cells_of(const std::string& line) {
    const std::regex cell("[^ ]+( [^ ]+)*");
    std::vector<std::string> cells;
    for (std::sregex_iterator it(line.begin(), line.end(), cell), end; it != end; ++it) cells.push_back(it->str());
    return cells;
}

std::vector<std::vector<std::string>> rows_of(const std::string& text) {
    std::vector<std::vector<std::string>> rows;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) rows.push_back(cells_of(line));
    return rows;
}

// Whether a row of the program has all cells of this one, in their order: a page leaves columns out.
bool is_printed(const std::vector<std::string>& shown, const std::vector<std::vector<std::string>>& printed) {
    std::vector<std::string> all;  // of tables too wide for one, what a row has in each of them
    for (const auto& row : printed)
        if (!row.empty() && row.front() == shown.front()) all.insert(all.end(), row.begin(), row.end());
    auto from = all.begin();
    for (const std::string& cell : shown) {
        from = std::find(from, all.end(), cell);
        if (from == all.end()) return false;
        ++from;
    }
    return true;
}

// The lines of a page from this one to the next empty one, or to the end of the block.
std::string shown_by(const std::string& page, const std::string& first) {
    const std::size_t from = page.find(first), to = std::min(page.find("\n\n", from), page.find("\n```", from));
    REQUIRE(from != std::string::npos);
    REQUIRE(to != std::string::npos);
    return page.substr(from, to - from);
}

}  // namespace

TEST_CASE("the plans that pages show are printed so") {
    const TinySweep sweep(kPlain);
    const fs::path source = DEFT_SOURCE_DIR;
    const auto plan = [&](const std::string& name, const std::vector<std::string>& more) {
        std::vector<std::string> command = {DEFT_PROGRAM, "plan", (source / "sweeps" / (name + ".toml")).string(),
                                            "--scale", "paper"};
        command.insert(command.end(), more.begin(), more.end());
        Process process(command, sweep.out(), sweep.err());
        const int code = process.wait();
        INFO(read_file(sweep.err()));
        CHECK(code == kExitOk);
        return read_file(sweep.out());
    };

    const auto ranks = rows_of(plan("moe_quality", {"--only", "dense,MoE", "--ranks", "64", "--expert-ranks", "64"}));
    for (const char* first : {"dense     4  1.3 GiB", "dense    1.40 GB"}) {
        const auto shown = rows_of(shown_by(read_file(source / "docs/ranks.md"), first));
        CHECK(shown.size() == 2);
        for (const auto& row : shown) {
            INFO(fmt::format("{}", fmt::join(row, " | ")));
            CHECK(row.size() >= 8);
            CHECK(is_printed(row, ranks));
        }
    }
    CHECK_FALSE(is_printed({"dense", "4", "1.4 GiB"}, ranks));
    CHECK_FALSE(is_printed({"MoE", "1.7 GiB", "4"}, ranks));

    const auto fitted = rows_of(plan("gpt_combined", {}));
    const auto shown =
        rows_of(shown_by(read_file(source / "docs/paper-tables.md"), "baseline         100%    260.0 h"));
    CHECK(shown.size() == 8);
    for (const auto& row : shown) {
        INFO(fmt::format("{}", fmt::join(row, " | ")));
        CHECK(std::count(fitted.begin(), fitted.end(), row) == 1);
    }
}
