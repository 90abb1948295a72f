// The files that CI services read: what they ask of the program it must know, and what they promise must hold.

#include <fmt/format.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "base/process.h"
#include "tests/sweeps/program.h"

using namespace deft;
using test::Ran;
using test::TinySweep;

namespace {

const std::vector<std::string> kFiles = {".github/workflows/deft-check.yml", ".gitlab-ci.yml", ".ci/gate"};

std::filesystem::path in_source(const std::string& file) {
    return std::filesystem::path(DEFT_SOURCE_DIR) / file;
}

std::string joined_lines(std::string text) {
    for (const char* end : {" \\\n", "\n        -k "})  // continued lines, and an array of words
        for (std::size_t at = text.find(end); at != std::string::npos; at = text.find(end, at))
            text.replace(at, std::string(end).find('\n') + 1, " ");
    return text;
}

// The command as a shell reads it, with quotes and without trailing text.
std::vector<std::string> words_of(const std::string& command) {
    std::vector<std::string> words;
    std::string word;
    char quote = 0;
    for (const char c : command + ' ') {
        if (quote != 0 ? c == quote : c == '\'' || c == '"') {
            quote = quote != 0 ? '\0' : c;
        } else if (quote == 0 && (c == ';' || c == '|' || c == '&' || c == '>')) {
            break;
        } else if (quote == 0 && c == ' ') {
            if (!word.empty()) words.push_back(word);
            word.clear();
        } else {
            word += c;
        }
    }
    return words;
}

// Every call of the program in a file, without its name.
std::vector<std::vector<std::string>> calls_in(const std::string& file) {
    std::vector<std::vector<std::string>> calls;
    std::istringstream in(joined_lines(read_file(in_source(file))));
    for (std::string line; std::getline(in, line);) {
        if (line.find_first_not_of(' ') != std::string::npos && line[line.find_first_not_of(' ')] == '#') continue;
        for (const std::string program : {"./deft ", "\"$program\" "})
            if (const std::size_t at = line.find(program);
                at != std::string::npos && std::isalpha(static_cast<unsigned char>(line[at + program.size()])))
                calls.push_back(words_of(line.substr(at + program.size())));
    }
    return calls;
}

// The words that name the command: one for `deft run`, two for all others that the files call.
std::vector<std::string> command_of(const std::vector<std::string>& call) {
    return {call.begin(), call.begin() + (call[0] == "run" ? 1 : 2)};
}

bool has_option(const std::string& help, const std::string& option) {
    for (std::size_t at = help.find(option); at != std::string::npos; at = help.find(option, at + 1)) {
        const char before = at == 0 ? ' ' : help[at - 1],
                   after = at + option.size() < help.size() ? help[at + option.size()] : ' ';
        if ((before == ' ' || before == ',') && (after == ' ' || after == ',' || after == '\n')) return true;
    }
    return false;
}

}  // namespace

TEST_CASE("every deft command in the workflow files is one that the program has", "[workflow][bare]") {
    const TinySweep sweep("");
    for (const std::string& file : kFiles) {
        const auto calls = calls_in(file);
        INFO(file);
        CHECK(!calls.empty());
        for (const std::vector<std::string>& call : calls) {
            INFO(fmt::format("{}", fmt::join(call, " ")));
            if (call[0] == "test") continue;  // a command of the bootstrap script
            REQUIRE(call.size() >= 2);
            const std::vector<std::string> commands = command_of(call);
            std::vector<std::string> more(commands.begin() + 1, commands.end());
            more.emplace_back("--help");
            const Ran help = sweep.deft(commands[0], more);
            CHECK(help.exit_code == kExitOk);
            // The name proves that this is not the help of the command above.
            CHECK_THAT(help.out, ContainsSubstring(fmt::format("Usage: deft {} ", fmt::join(commands, " "))));
            for (const std::string& word : call)
                if (word.size() > 1 && word[0] == '-') {
                    INFO(word);
                    CHECK(has_option(help.out, word));
                }
        }
    }
    CHECK(calls_in(".github/workflows/deft-check.yml").size() >= 3);
}

TEST_CASE("no text of a pull request reaches a shell of the workflow, and nothing may be written", "[workflow][bare]") {
    std::istringstream in(read_file(in_source(".github/workflows/deft-check.yml")));
    std::size_t expressions = 0;
    for (std::string line; std::getline(in, line);) {
        if (line.find("${{") == std::string::npos) continue;
        ++expressions;
        INFO(line);
        CHECK(line.substr(line.find_first_not_of(' ')).starts_with("key: "));
        CHECK(line.find("${{ github.run_id }}") != std::string::npos);
    }
    CHECK(expressions > 0);
    const std::string text = read_file(in_source(".github/workflows/deft-check.yml"));
    CHECK_THAT(text, ContainsSubstring("\npermissions:\n  contents: read\n\n") && !ContainsSubstring(": write"));
    CHECK_THAT(text, !ContainsSubstring("pull_request_target") && !ContainsSubstring("secrets."));
}

TEST_CASE("the workflow files are YAML", "[workflow][bare]") {
    const auto python = [](const std::vector<std::string>& words) {
        std::vector<std::string> argv = {"/usr/bin/python3", "-c"};
        argv.insert(argv.end(), words.begin(), words.end());
        return run_process(argv).exit_code;
    };
    if (!std::filesystem::exists("/usr/bin/python3") || python({"import yaml"}) != 0)
        DEFT_SKIP("no python3 with yaml to read the files with");
    CHECK(
        python({"import sys, yaml\n"
                "github, gitlab = (yaml.safe_load(open(file)) for file in sys.argv[1:])\n"
                "assert github['permissions'] == {'contents': 'read'}\n"
                "jobs = github['jobs'].values()\n"
                "assert all('permissions' not in job and job['timeout-minutes'] <= 60 for job in jobs)\n"
                "runs = [step['run'] for job in jobs for step in job['steps'] if 'run' in step]\n"
                "assert len(runs) == 10 and all('${{' not in run for run in runs)\n"
                "assert sum('./deft test\\n' in run for run in runs) == 1\n"
                "assert gitlab['tests']['script'] == ['./deft test']\n"
                "assert gitlab['quality']['rules'][0]['exists'] == ['.ci/baseline.jsonl']\n"
                "assert gitlab['quality']['artifacts']['reports']['junit'] in ' '.join(gitlab['quality']['script'])\n"
                "assert gitlab['compare']['artifacts']['reports']['junit'] in ' '.join(gitlab['compare']['script'])\n",
                in_source(kFiles[0]), in_source(kFiles[1])}) == 0);
}

TEST_CASE("the advisory gate of CI counts and names what it leaves out, and never fails", "[workflow][bare]") {
    const TinySweep sweep("");
    const std::filesystem::path checkout = sweep.folder.path / "checkout";
    const auto git = [&](std::vector<std::string> words) {
        std::vector<std::string> argv = {"git", "-C", checkout, "-c", "user.name=t", "-c", "user.email=t@example.org"};
        argv.insert(argv.end(), words.begin(), words.end());
        REQUIRE(run_process(argv).exit_code == 0);
    };
    const auto write = [&](const std::string& file, const std::string& text) {
        std::filesystem::permissions(sweep.folder.write("checkout/" + file, text), std::filesystem::perms::owner_all);
    };
    const auto commit = [&](const char* name) {
        git({"add", "-A"});
        git({"commit", "-q", "-m", name});
    };
    const auto gate = [&](const std::string& base = "HEAD^") {
        const ProcessOutput output =
            run_process({"env", "-u", "DEFT_BUILD", "DEFT_CI_BASE=" + base, checkout / ".ci/gate"});
        INFO(output.out);
        CHECK(output.exit_code == 0);
        return output.out;
    };
    write(".ci/gate", read_file(in_source(".ci/gate")));
    write(".gitignore", "/build/\n");
    write("base/a.cpp", "1\n");
    git({"init", "-q"});
    commit("first");
    CHECK_THAT(gate(), ContainsSubstring("0 comparisons, 1 skipped: ") && ContainsSubstring("is not built"));
    write("build/deft", "#!/bin/sh\nexit 0\n");
    CHECK_THAT(gate(), ContainsSubstring("1 skipped: this clone has no HEAD^"));
    CHECK_THAT(gate("none"), ContainsSubstring("1 skipped: DEFT_CI_BASE is none"));
    write("README.md", "text\n");
    commit("text alone");
    CHECK_THAT(gate(), ContainsSubstring("1 skipped: nothing that the program is made of changed"));
    write("base/a.cpp", "2\n");
    commit("code");
    if (run_process({"sh", "-c", "command -v ccache"}).exit_code != 0)
        CHECK_THAT(gate(), ContainsSubstring("no compiler cache"));
    else
        CHECK_THAT(gate(), ContainsSubstring("was not built within"));
    const std::string worktrees = run_process({"git", "-C", checkout, "worktree", "list"}).out;
    CHECK(std::count(worktrees.begin(), worktrees.end(), '\n') == 1);
}
