#include "base/suites.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.h"
#include "base/installed_files.h"
#include "base/suggestion.h"
#include "base/table_reader.h"

namespace deft {

namespace {

Suite read_suite(const std::string& name, const ConfigNode& node) {
    TableReader table(node, name);
    Suite suite{name, table.required_text("meaning"), {}};
    const ConfigNode* measures = table.optional_node("measures");
    if (measures == nullptr)
        table.refuse("measures", "is missing",
                     fmt::format("write [{}.measures] with lines as in lambada = \"acc\"", name));
    TableReader tasks(*measures, name + ".measures");
    for (const std::string& task : tasks.keys()) suite.tasks.push_back({task, tasks.required_text(task.c_str())});
    if (suite.tasks.empty()) table.refuse("measures", "is empty", "write lines as in lambada = \"acc\"");
    table.finish();
    return suite;
}

}  // namespace

const SuiteTask* Suite::find(const std::string& task) const {
    const auto found = std::find_if(tasks.begin(), tasks.end(), [&](const SuiteTask& of) { return of.name == task; });
    return found == tasks.end() ? nullptr : &*found;
}

std::vector<Suite> parse_suites(const std::string& text, const std::string& file_name) {
    const ConfigNode root = parse_toml(text, file_name);
    std::vector<Suite> suites;
    for (const auto& [name, node] : root.children) suites.push_back(read_suite(name, node));
    return suites;
}

const std::vector<Suite>& project_suites() {
    static const std::vector<Suite> suites = [] {
        const std::filesystem::path file = installed_file("experiments/suites.toml");
        return parse_suites(read_file(file), file.string());
    }();
    return suites;
}

const Suite& project_suite(const std::string& name) {
    std::vector<std::string> names;
    for (const Suite& suite : project_suites()) {
        if (suite.name == name) return suite;
        names.push_back(suite.name);
    }
    throw Error(ErrorKind::config, fmt::format("unknown suite '{}'", name), suggestion(name, names));
}

}  // namespace deft
