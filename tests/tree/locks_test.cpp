// A command that opens a database for writing may wait for another machine, and says so.

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>

#include "tests/catch.h"

namespace fs = std::filesystem;

namespace {

bool opens_in_silence(const std::string& line) {
    static const std::regex opens(R"((results_db::Writer( \w+)?|\bwriter_)\(\w)");
    return std::regex_search(line, opens) && line.find("lock") == std::string::npos;
}

}  // namespace

TEST_CASE("each command that opens a database for writing announces that it waits for its lock") {
    int files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(DEFT_SOURCE_DIR) / "sweeps")) {
        if (entry.path().extension() != ".cpp") continue;
        ++files;
        std::ifstream in(entry.path());
        for (std::string line; std::getline(in, line);) {
            INFO(entry.path().string() << ": " << line);
            CHECK_FALSE(opens_in_silence(line));
        }
    }
    CHECK(files > 50);
    CHECK(opens_in_silence("    const results_db::Writer migrated(file);"));
    CHECK(opens_in_silence("      writer_(file_), started_ms_(now_ms()) {}"));
    CHECK_FALSE(opens_in_silence("    results_db::Writer writer(database_in(root), announced_lock());"));
}
