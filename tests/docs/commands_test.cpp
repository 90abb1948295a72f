// Commands that README.md and docs/ show exist, and run where nothing forbids it.
//
// A command in a ```sh block runs in a folder of its own. `<!-- not run: reason -->` before a block leaves its commands
// unrun; their names and options are checked all the same.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <regex>

#include "base/process.h"
#include "tests/catch.h"
#include "tests/docs/pages.h"
#include "tests/docs/shell_words.h"
#include "tests/temporary_folder.h"

using namespace deft::test;
namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

// The words after `deft` of a line, and before them only variables; none where the line runs another program.
std::optional<Words> deft_command(const Words& line) {
    static const std::regex variable("^[A-Z_]+=.*");
    auto word = line.begin();
    while (word != line.end() && std::regex_match(*word, variable)) ++word;
    if (word == line.end() || (*word != "deft" && *word != "./deft")) return std::nullopt;
    ++word;
    while (word != line.end() && (*word == "--mpi" || *word == "--cuda" || *word == "--no-cuda"))
        ++word;  // the script's
    return Words(word, line.end());
}

// The help page of a command; empty where the program has none.
const std::string& help_of(const Words& command) {
    static std::map<Words, std::string> pages;
    const auto known = pages.find(command);
    if (known != pages.end()) return known->second;
    Words argv = {DEFT_PROGRAM};
    argv.insert(argv.end(), command.begin(), command.end());
    argv.push_back("--help");
    const deft::ProcessOutput ran = deft::run_process(argv);
    const bool has_page =
        ran.exit_code == 0 && ran.out.find(fmt::format("Usage: deft {}", fmt::join(command, " "))) != std::string::npos;
    return pages[command] = has_page ? ran.out : "";
}

bool has_option(const std::string& help, const std::string& option) {
    return std::regex_search(help, std::regex("(^|[ ,\n])" + option + "([ ,=:\n]|$)"));
}

// Why a command cannot be right; empty where its names and options exist.
std::string fault_of(const Words& words) {
    if (words.empty()) return "";
    if (words[0] == "test") return "";  // the script's
    Words command = {words[0]};
    if (help_of(command).empty()) return "there is not a command " + words[0];
    std::size_t next = 1;
    static const std::regex usage_with_command("Usage: [^\n]*COMMAND");
    const bool has_more = std::regex_search(help_of(command), usage_with_command);
    if (has_more && next < words.size() && words[next][0] != '-') {
        command.push_back(words[next++]);
        if (help_of(command).empty()) return fmt::format("there is not a command {}", fmt::join(command, " "));
    }
    for (; next < words.size(); ++next) {
        static const std::regex option("^(--[a-z][a-z-]*|-[a-z])(=.*)?$");
        std::smatch found;
        if (std::regex_match(words[next], found, option) && !has_option(help_of(command), found[1]))
            return fmt::format("{} has not the option {}", fmt::join(command, " "), found[1].str());
    }
    return "";
}

bool is_shell(const Block& block) {
    return block.language == "sh" || block.language == "console" || block.language == "bash";
}

bool is_run(const Block& block) {
    return !block.comment.starts_with("not run: ");
}

// Commands in running text and in tables: `deft keys TABLE`.
std::vector<std::string> inline_commands(const Page& page) {
    static const std::regex code("`((?:\\./)?deft [a-z][^`]*)`");
    std::vector<std::string> commands;
    for (const std::string& line : page.prose)
        for (std::sregex_iterator it(line.begin(), line.end(), code), end; it != end; ++it)
            commands.push_back((*it)[1]);
    return commands;
}

}  // namespace

TEST_CASE("commands that pages show have the names and options that the program has") {
    int commands = 0;
    const auto check = [&](const std::string& place, const std::string& line) {
        const std::optional<Words> command = deft_command(shell_words(line));
        if (!command) return;
        ++commands;
        INFO(place << ": " << line);
        CHECK(fault_of(*command) == "");
    };
    for (const Page& page : all_pages()) {
        if (page.name == "docs/cli.md" || page.name == "docs/keys.md") continue;
        for (const std::string& line : inline_commands(page)) check(page.name, line);
        for (const Block& block : page.blocks)
            if (is_shell(block))
                for (const std::string& line : block.lines) check(block.place, line);
    }
    CHECK(commands > 100);
    CHECK(fault_of({"plan", "--memory"}) == "");
    CHECK(fault_of({"plane"}) != "");
    CHECK(fault_of({"data", "lists"}) != "");
    CHECK(fault_of({"plan", "--memories"}) != "");
}

TEST_CASE("blocks of commands run, but for a counted few that say why not", "[slow]") {
    const TemporaryFolder folder;  // with what the commands read, and without what they leave
    for (const char* name : {"sweeps", "reporting", "experiments"})
        fs::create_directory_symlink(fs::path(DEFT_SOURCE_DIR) / name, folder.path() / name);
    int ran = 0, not_run = 0;
    for (const Page& page : all_pages())
        for (const Block& block : page.blocks) {
            if (!is_shell(block) || page.name == "docs/contributing.md") continue;  // a copy of CONTRIBUTING.md
            if (!is_run(block)) {
                ++not_run;
                continue;
            }
            for (const std::string& line : block.lines) {
                INFO(block.place << ": " << line);
                const std::optional<Words> command = deft_command(shell_words(line));
                REQUIRE(command);
                const std::string quoted = line.substr(line.find("deft") + 4);
                const deft::ProcessOutput output = deft::run_process(
                    {"/bin/sh", "-c",
                     fmt::format("cd '{}' && '{}' {} 2>&1", folder.path().string(), DEFT_PROGRAM, quoted)});
                INFO(output.out);
                CHECK((output.exit_code == 0 || (output.exit_code == 3 && command->front() == "check")));
                ++ran;
            }
        }
    std::printf("documentation: %d commands run, %d blocks not run\n", ran, not_run);
    CHECK(ran >= 25);
    CHECK(not_run <= 53);
}
