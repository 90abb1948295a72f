// The dependency arrows between folders hold in every include.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "tests/catch.h"

namespace fs = std::filesystem;

namespace {

// Below sweeps/ the rooms, elsewhere the folders: what each may include beside itself. tests may include everything.
const std::set<std::string> kBelowSweeps = {"base", "kernels", "engine", "experiments", "results_db", "reporting"};

std::set<std::string> with_rooms(std::set<std::string> rooms) {
    rooms.insert(kBelowSweeps.begin(), kBelowSweeps.end());
    return rooms;
}

const std::map<std::string, std::set<std::string>> kArrows = {
    {"base", {}},
    {"kernels", {"base"}},
    {"engine", {"base", "kernels"}},
    {"experiments", {"base", "kernels", "engine"}},
    {"results_db", {"base"}},
    {"reporting", {"base", "results_db"}},
    {"sweeps/spec", with_rooms({})},
    {"sweeps/driver", with_rooms({"sweeps/spec"})},
    {"sweeps/gate", with_rooms({"sweeps/spec", "sweeps/driver"})},
    {"sweeps/cli", with_rooms({"sweeps/spec", "sweeps/driver", "sweeps/gate"})},
};

// The folder or room that an include line names, or empty.
std::string included_folder(const std::string& line) {
    const std::string start = "#include \"";
    if (line.rfind(start, 0) != 0) return {};
    const std::string path = line.substr(start.size());
    std::size_t slash = path.find('/');
    if (path.rfind("sweeps/", 0) == 0) slash = path.find('/', slash + 1);
    return slash == std::string::npos ? std::string{} : path.substr(0, slash);
}

std::string violation(const std::string& folder, const std::string& line) {
    const std::string other = included_folder(line);
    if (other.empty() || other == folder || kArrows.at(folder).count(other) != 0) return {};
    return folder + " must not include " + other;
}

}  // namespace

TEST_CASE("includes follow the arrows") {
    const fs::path root = DEFT_SOURCE_DIR;
    int files = 0;
    for (const auto& [folder, allowed] : kArrows)
        for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
            const std::string extension = entry.path().extension().string();
            if (extension != ".h" && extension != ".cpp" && extension != ".cu" && extension != ".cuh") continue;
            ++files;
            std::ifstream in(entry.path());
            for (std::string line; std::getline(in, line);) {
                INFO(entry.path().string() << ": " << line);
                CHECK(violation(folder, line).empty());
            }
        }
    CHECK(files > 50);
}

namespace {

using Edges = std::map<std::string, std::set<std::string>>;

// The folders that files of each folder below reporting include.
Edges edges_of_reporting() {
    const fs::path root = DEFT_SOURCE_DIR;
    const std::string start = "#include \"reporting/";
    Edges edges;
    for (const auto& entry : fs::recursive_directory_iterator(root / "reporting")) {
        const std::string extension = entry.path().extension().string();
        if (extension != ".h" && extension != ".cpp") continue;
        const std::string folder = fs::relative(entry.path().parent_path(), root).string();
        std::ifstream in(entry.path());
        for (std::string line; std::getline(in, line);) {
            if (line.rfind(start, 0) != 0) continue;
            const std::string path = line.substr(start.size() - std::string("reporting/").size());
            const std::string other = path.substr(0, path.rfind('/'));
            if (other != folder) edges[folder].insert(other);
        }
    }
    return edges;
}

// The folders that lead back to themselves, or to such.
std::set<std::string> cyclic(Edges edges) {
    for (bool removed = true; removed;) {
        removed = false;
        for (auto one = edges.begin(); one != edges.end();) {
            auto& targets = one->second;
            for (auto target = targets.begin(); target != targets.end();)
                target = edges.count(*target) == 0 ? targets.erase(target) : std::next(target);
            removed = removed || targets.empty();
            one = targets.empty() ? edges.erase(one) : std::next(one);
        }
    }
    std::set<std::string> left;
    for (const auto& [folder, targets] : edges) left.insert(folder);
    return left;
}

}  // namespace

TEST_CASE("folders of reporting include each other in one direction, and no analysis includes a view") {
    const Edges edges = edges_of_reporting();
    CHECK(edges.size() > 15);
    CHECK(cyclic(edges) == std::set<std::string>{});
    CHECK(edges.count("reporting") == 0);  // its own files are the lowest
    for (const auto& [folder, targets] : edges)
        for (const std::string& target : targets) {
            INFO(folder << " includes " << target);
            CHECK_FALSE((folder.rfind("reporting/views", 0) != 0 && target.rfind("reporting/views", 0) == 0));
        }
}

TEST_CASE("a circle of folders would be seen") {
    CHECK(cyclic({{"a", {"b"}}, {"b", {"c"}}}) == std::set<std::string>{});
    CHECK(cyclic({{"a", {"b"}}, {"b", {"a"}}, {"c", {"d"}}}) == std::set<std::string>{"a", "b"});
    CHECK(cyclic({{"a", {"b"}}, {"b", {"c"}}, {"c", {"a", "d"}}}) == std::set<std::string>{"a", "b", "c"});
}

TEST_CASE("sweep files are alone at the top of sweeps") {
    for (const auto& entry : fs::directory_iterator(fs::path(DEFT_SOURCE_DIR) / "sweeps")) {
        INFO(entry.path().string());
        CHECK((entry.is_directory() ? kArrows.count("sweeps/" + entry.path().filename().string()) == 1
                                    : entry.path().extension() == ".toml"));
    }
}

TEST_CASE("a broken arrow would be seen") {
    CHECK(violation("engine", "#include \"sweeps/spec/spec.h\"") == "engine must not include sweeps/spec");
    CHECK(violation("sweeps/spec", "#include \"sweeps/driver/slots.h\"") ==
          "sweeps/spec must not include sweeps/driver");
    CHECK(violation("sweeps/driver", "#include \"sweeps/spec/spec.h\"").empty());
    CHECK(violation("reporting", "#include \"engine/core/tensor.h\"") == "reporting must not include engine");
    CHECK(violation("engine", "#include \"kernels/types.h\"").empty());
    CHECK(violation("engine", "#include <vector>").empty());
}

TEST_CASE("reports parse a configuration in one place") {
    int places = 0;
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(DEFT_SOURCE_DIR) / "reporting")) {
        if (entry.path().extension() != ".cpp") continue;
        std::ifstream in(entry.path());
        for (std::string line; std::getline(in, line);) {
            if (line.find("parse_json(trial.config_json") == std::string::npos &&
                line.find("parse_settings(trial.config_json") == std::string::npos)
                continue;
            ++places;
            INFO(entry.path().string() << ": " << line);
            CHECK(entry.path().filename() == "load_results.cpp");
        }
    }
    CHECK(places == 1);
}
