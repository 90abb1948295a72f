// deft without arguments, the help of every command, completion and the manual page.

#include <algorithm>
#include <sstream>

#include "base/process.h"
#include "reporting/text.h"
#include "sweeps/cli/command_help.h"
#include "sweeps/cli/command_line.h"
#include "sweeps/cli/exit_codes.h"
#include "sweeps/cli/help_text.h"
#include "tests/sweeps/program.h"

using namespace deft;
using test::Ran;
using test::TinySweep;

namespace {

// Ends a parse before the command runs.
struct Parsed {};

struct Commands {
    CLI::App app{"Trains.", "deft"};
    cli::Context context;
    Commands() {
        cli::add_commands(app, context);
        app.parse_complete_callback([] { throw Parsed(); });
    }
};

template <class Visit>
void walk(const CLI::App& command, const Visit& visit) {
    visit(command);
    for (const CLI::App* one : cli::visible_commands(command)) walk(*one, visit);
}

// The words of an example after "deft", without its quotes.
std::vector<std::string> words_of(const std::string& example) {
    std::vector<std::string> words(1);
    bool quoted = false;
    for (const char c : example) {
        if (c == '\'')
            quoted = !quoted;
        else if (c == ' ' && !quoted)
            words.emplace_back();
        else
            words.back() += c;
    }
    const auto program = std::find(words.begin(), words.end(), "deft");
    REQUIRE(program != words.end());
    return {program + 1, words.end()};
}

}  // namespace

TEST_CASE("the help of every command fits 80 columns and has examples and exit codes", "[bare]") {
    const Commands commands;
    int visited = 0;
    walk(commands.app, [&](const CLI::App& command) {
        const std::string path = cli::command_path(command);
        const std::string help = command.help();
        CAPTURE(path);
        std::istringstream lines(help);
        for (std::string line; std::getline(lines, line);) {
            CAPTURE(line);
            CHECK(reporting::display_width(line) <= cli::kHelpWidth);
        }
        CHECK(help.find("\nExamples:\n") != std::string::npos);
        if (!path.empty()) {
            CHECK(cli::find_command_help(path) != nullptr);
            CHECK(help.find("\nExit codes:\n") != std::string::npos);
        }
        ++visited;
    });
    CHECK(visited > 50);
}

TEST_CASE("the help of a command lists the exit codes that it can return, in order", "[bare]") {
    const auto codes_of = [](std::string_view command) {
        std::vector<int> codes;
        for (const cli::ExitCode& one : cli::exit_codes_of(command)) codes.push_back(one.code);
        return codes;
    };
    CHECK(codes_of("keys") == std::vector<int>{0, 1, 2});
    CHECK(codes_of("report") == std::vector<int>{0, 1, 2, 5, 6});
    CHECK(codes_of("run") == std::vector<int>{0, 1, 2, 5, 6, 75, 130});
    CHECK(codes_of("check claims") == std::vector<int>{0, 1, 2, 3, 4, 5, 6});
    CHECK(codes_of("bench list") == std::vector<int>{0, 1, 2, 5});
    CHECK(codes_of("bench") == std::vector<int>{0, 1, 2, 3, 4, 5, 6});
    const TinySweep nothing("");
    CHECK_THAT(nothing.deft("keys", {"--help"}).out,
               ContainsSubstring("\nExit codes:\n  0    done\n") && !ContainsSubstring("\n  3 "));
}

TEST_CASE("a command that reads results lists code 5 for a folder without any, and 6 for another's database",
          "[bare]") {
    const TinySweep nothing("");
    const std::filesystem::path foreign = nothing.folder.write("foreign/results.db", "these are my notes\n");
    const std::string absent = (nothing.folder.path / "absent").string();
    int reading = 0;
    for (const cli::CommandHelp& help : cli::all_command_help()) {
        const auto codes = cli::exit_codes_of(help.command);
        const auto lists = [&](int code) {
            return std::any_of(codes.begin(), codes.end(), [&](const cli::ExitCode& one) { return one.code == code; });
        };
        // These measure before they open the database, or write one into an empty folder.
        if (!lists(kExitDatabase) || help.command.starts_with("bench") || help.command == "run" ||
            help.command == "check bench" || help.command == "db merge" || help.command == "check" ||
            help.command == "baseline" || help.command == "db")
            continue;
        CAPTURE(help.command);
        ++reading;
        std::vector<std::string> words = words_of(help.examples[0]);
        words.insert(words.begin(), DEFT_PROGRAM);
        words.insert(words.end(), {"--root", absent});
        const int without = run_process(words).exit_code;
        CHECK((without == kExitNothing || without == kExitUsage));
        words.back() = foreign.parent_path().string();
        CHECK(run_process(words).exit_code == kExitDatabase);
    }
    CHECK(reading >= 15);
}

TEST_CASE("the examples of every command parse", "[bare]") {
    for (const cli::CommandHelp& help : cli::all_command_help())
        for (const char* example : help.examples) {
            CAPTURE(help.command, example);
            Commands commands;
            std::vector<std::string> words = words_of(example);
            const bool asks_help = !words.empty() && words.back() == "--help";
            std::reverse(words.begin(), words.end());
            try {
                commands.app.parse(words);
                FAIL_CHECK("the command line names no command");
            } catch (const Parsed&) {
                CHECK(!asks_help);
            } catch (const CLI::CallForHelp&) {
                CHECK(asks_help);
            } catch (const CLI::ParseError& error) {
                FAIL_CHECK(error.what());
            }
        }
}

TEST_CASE("deft without arguments shows every command once, those of a beginner first", "[bare]") {
    const TinySweep nothing("");
    const Ran help = nothing.deft("help");
    CHECK(help.exit_code == kExitOk);
    const Commands commands;
    std::size_t grouped = 0;
    for (const cli::CommandGroup& group : cli::command_groups()) grouped += group.commands.size();
    CHECK(grouped == cli::visible_commands(commands.app).size());
    for (const CLI::App* command : cli::visible_commands(commands.app))
        CHECK(help.out.find("\n  " + command->get_name() + " ") != std::string::npos);
    CHECK(help.out.find("First steps:") < help.out.find("Results:"));
}

TEST_CASE("completion names the commands and options, and the manual every command", "[bare]") {
    const TinySweep nothing("");
    const std::string bash = nothing.deft("completion", {"bash"}).out;
    const test::Folder folder;
    const auto script = folder.write("deft.bash", bash);
    const auto complete = [&](const std::string& words, int at) {
        return run_process({"bash", "-c",
                            "source " + script.string() + "; COMP_WORDS=(" + words +
                                "); COMP_CWORD=" + std::to_string(at) + "; _deft; echo ${COMPREPLY[*]}"})
            .out;
    };
    CHECK(complete("deft comp", 1) == "compare completion\n");
    CHECK(complete("deft data tok", 2) == "tokenize\n");
    CHECK(complete("deft data get --fr", 3) == "--from\n");
    CHECK(nothing.deft("completion", {"zsh"}).out.starts_with("#compdef deft\n"));
    CHECK(nothing.deft("completion", {"fish"}).out.find("-a tokenize\n") != std::string::npos);
    CHECK(nothing.deft("completion", {"tcsh"}).exit_code == kExitUsage);
    // zsh and fish, where they are installed.
    const auto output = [](const std::vector<std::string>& argv) { return run_process(argv).out; };
    const auto has = [&](const std::string& shell) { return !output({"sh", "-c", "command -v " + shell}).empty(); };
    if (has("fish")) {
        const auto fish = folder.write("deft.fish", nothing.deft("completion", {"fish"}).out);
        const auto words = [&](const std::string& line) {
            return output({"fish", "-c", "source " + fish.string() + "; complete -C '" + line + "'"});
        };
        CHECK(words("deft comp") == "compare\ncompletion\n");
        CHECK(words("deft data tok") == "tokenize\n");
        CHECK(words("deft data get --fr") == "--from\n");
    }
    if (has("zsh")) {
        const auto zsh = folder.write("_deft", nothing.deft("completion", {"zsh"}).out);
        const std::string set_up =
            "autoload -Uz compinit; compinit -u -D; source " + zsh.string() + "; emulate -R sh -c ";
        // compadd of zsh filters these by what is typed.
        CHECK_THAT(
            output({"zsh", "-fc", set_up + "'COMP_WORDS=(deft data tok); COMP_CWORD=2; _deft; echo ${COMPREPLY[*]}'"}),
            ContainsSubstring("tokenize") && !ContainsSubstring("compare"));
    }

    const std::string manual = nothing.deft("man").out;
    const Commands commands;
    std::size_t sections = 0;
    for (std::size_t at = manual.find("\n.SS "); at != std::string::npos; at = manual.find("\n.SS ", at + 1))
        ++sections;
    std::size_t expected = 0;
    walk(commands.app, [&](const CLI::App&) { ++expected; });
    CHECK(sections + 1 == expected);

    const ProcessOutput groff = run_process({"sh", "-c",
                                             "command -v groff >/dev/null || exit 77; groff -man -ww -Tutf8 " +
                                                 folder.write("deft.1", manual).string() + " 2>&1 >/dev/null"});
    if (groff.exit_code == 77) DEFT_SKIP("groff is not installed");
    CHECK(groff.out.empty());
    CHECK(groff.exit_code == 0);
}

TEST_CASE("an unknown option suggests the nearest option of its command", "[bare]") {
    const TinySweep nothing("");
    const Ran wrong = nothing.deft("keys", {"train", "--shcema", "sweep"});
    CHECK(wrong.exit_code == kExitUsage);
    CHECK_THAT(wrong.err,
               ContainsSubstring("deft keys has no option --shcema") && ContainsSubstring("did you mean --schema?"));
    const Ran nested = nothing.deft("data", {"get", "lambada", "--form=x"});
    CHECK_THAT(nested.err,
               ContainsSubstring("deft data get has no option --form") && ContainsSubstring("did you mean --from?"));
}
