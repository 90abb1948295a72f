// The program on terminals: their width, their colour, and pipes that close early.

#include <fmt/ranges.h>
#include <sys/ioctl.h>

#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <thread>

#include "reporting/text.h"
#include "tests/sweeps/program.h"

using namespace deft;
using test::kPlain;
using test::TinySweep;

namespace {

// The output of `argv` on a terminal of that width; nothing on a machine without pseudo-terminals.
std::optional<std::string> on_terminal(const TinySweep& sweep, const std::vector<std::string>& argv, int columns,
                                       const std::map<std::string, std::string>& variables) {
    const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0) return {};
    const std::string name = ::ptsname(terminal);
    winsize size{};
    size.ws_col = static_cast<unsigned short>(columns);
    size.ws_row = 24;
    ::ioctl(terminal, TIOCSWINSZ, &size);
    test::Process process(argv, sweep.out(), sweep.err(), [&] {
        const int other_end = ::open(name.c_str(), O_RDWR | O_NOCTTY);
        for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(other_end, number);
        ::close(other_end);
        for (const char* variable : {"NO_COLOR", "CI"}) ::unsetenv(variable);
        for (const auto& [variable, value] : variables) ::setenv(variable.c_str(), value.c_str(), 1);
    });
    std::string text;
    const int other_end = ::open(name.c_str(), O_RDWR | O_NOCTTY);  // reading would end before the process begins
    std::thread waiting([&] {
        process.wait();
        ::close(other_end);
    });
    std::string piece(1 << 12, '\0');
    for (ssize_t count; (count = ::read(terminal, piece.data(), piece.size())) > 0;)
        text.append(piece, 0, static_cast<std::size_t>(count));
    waiting.join();
    ::close(terminal);
    std::erase(text, '\r');
    return text;
}

// The lines of a text that are wider than `columns`, but for those of one word.
std::string wide_lines(const std::string& text, int columns) {
    std::string wide;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
        if (reporting::display_width(line) > columns && line.find(' ', first) != std::string::npos) wide += line + "\n";
    }
    return wide;
}

// The commands that `deft help` lists.
std::set<std::string> listed_commands(const std::string& overview) {
    std::set<std::string> names;
    std::istringstream lines(overview);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("  ") && line.size() > 2 && line[2] != ' ' && line.find("  ", 2) != std::string::npos)
            names.insert(line.substr(2, line.find(' ', 2) - 2));
    return names;
}

}  // namespace

TEST_CASE("A terminal has messages in colour unless it is dumb or NO_COLOR is set", "[bare]") {
    const TinySweep sweep(kPlain);
    const std::vector<std::string> wrong = {DEFT_PROGRAM, "plan", "absent.toml"};
    const auto text = on_terminal(sweep, wrong, 80, {{"TERM", "xterm"}});
    if (!text) DEFT_SKIP("no pseudo-terminals here");
    CHECK_THAT(*text, ContainsSubstring("\x1b[1;31merror:\x1b[0m sweep file absent.toml does not exist") &&
                          ContainsSubstring("\x1b[1;36mhelp:\x1b[0m"));
    CHECK_THAT(*on_terminal(sweep, wrong, 80, {{"TERM", "dumb"}}),
               ContainsSubstring("error:") && !ContainsSubstring("\x1b"));
    CHECK_THAT(*on_terminal(sweep, wrong, 80, {{"TERM", "xterm"}, {"NO_COLOR", "1"}}),
               ContainsSubstring("error:") && !ContainsSubstring("\x1b"));
}

TEST_CASE("No line of a first screen or of the status is wider than a terminal of 40 columns", "[bare]") {
    const TinySweep sweep(kPlain);
    REQUIRE(sweep.run().exit_code == kExitOk);
    const std::string root = sweep.root.string();
    for (const std::vector<std::string>& argv :
         {std::vector<std::string>{DEFT_PROGRAM, "report", "--root", root}, {DEFT_PROGRAM, "status", "--root", root}}) {
        const auto text = on_terminal(sweep, argv, 40, {{"TERM", "dumb"}});
        if (!text) DEFT_SKIP("no pseudo-terminals here");
        CHECK(text->size() > 100);
        std::istringstream lines(*text);
        for (std::string line; std::getline(lines, line);) {
            INFO(argv[1] << ": " << line);
            CHECK((reporting::display_width(line) <= 40 || line.find(root) != std::string::npos));
        }
    }
}

TEST_CASE("No command prints a line wider than a terminal of 80 columns", "[bare]") {
    const TinySweep sweep(kPlain + test::kBothTechniques, "[1, 2]");
    REQUIRE(sweep.run().exit_code == kExitOk);
    const std::string root = sweep.root.string(), file = sweep.file.string(), text = sweep.folder.write("a.txt", "few");
    REQUIRE(sweep.deft("baseline", {"pin", "first", "--root", root}).exit_code == kExitOk);
    const std::vector<std::vector<std::string>> reading = {
        {"help"},
        {"run", file, "--root", root},
        {"run", file, "--root", root, "--full"},
        {"run", file, "--root", root, "--set", "train.learning_rat=1"},
        {"init", text, "--out", file + ".new"},
        {"plan", file, "--root", root},
        {"plan", file, "--root", root, "--memory"},
        {"plan", file, "--root", root, "--launcher", "slurm"},
        {"report", "--root", root},
        {"report", "--root", root, "--full"},
        {"report", "--root", root, "--per-seed"},
        {"report", "--root", root, "--missing"},
        {"keys"},
        {"keys", "train.learning_rate"},
        {"doctor"},
        {"status", "--root", root},
        {"show", "plain/1", "--root", root},
        {"show", "plain/1", "--items", "lambada", "--root", root},
        {"show", "both/3", "--root", root},
        {"trace", "tiny", "both", "validation loss", "--root", root},
        {"trace", "tiny", "both", "train time", "--root", root},
        {"trace", "tiny", "bot", "train time", "--root", root},
        {"compare", "plain", "both", "--root", root},
        {"compare", "plain/1", "both/2", "--root", root},
        {"cancel", "tiny", "--root", root},
        {"db", "upgrade", "--root", root},
        {"data", "list"},
        {"data", "info", "gpt2"},
        {"analyze", file, "--root", root},
        {"check", "quality", "--root", root},
        {"check", "claims", "--root", root},
        {"check", "trend", "--root", root},
        {"baseline", "list", "--root", root},
        {"bench", "list"},
        {"bench", "history", "--root", root},
    };
    std::set<std::string> tried = {
        "logs",   "completion", "man",     "debug-state",  // write what a file holds
        "eval",   "generate",   "import",  "export",
        "config", "tune",       "profile", "serve"};  // take models or minutes, or listen until they are stopped
    for (std::vector<std::string> argv : reading) {
        tried.insert(argv.front());
        argv.insert(argv.begin(), DEFT_PROGRAM);
        const auto printed = on_terminal(sweep, argv, 80, {{"TERM", "dumb"}});
        if (!printed) DEFT_SKIP("no pseudo-terminals here");
        INFO(fmt::format("{}", fmt::join(argv, " ")));
        CHECK(!printed->empty());
        CHECK(wide_lines(*printed, 80) == "");
    }
    CHECK(listed_commands(sweep.deft("help").out) == tried);
}

TEST_CASE("No line of a run is wider than a terminal of 80 columns, where a trial fails and one is searched for",
          "[bare]") {
    const TinySweep sweep("[search]\nlearning_rate = [1e-3, 1e9]\nseeds = [7]\n" + kPlain);
    const auto printed = on_terminal(sweep, sweep.command("run"), 80, {{"TERM", "dumb"}});
    if (!printed) DEFT_SKIP("no pseudo-terminals here");
    INFO(*printed);
    CHECK_THAT(*printed, ContainsSubstring("last lines of") && ContainsSubstring("1 of 1 trial done"));
    CHECK(wide_lines(*printed, 80) == "");
}

TEST_CASE("A pipe that closes early ends the program quietly", "[bare]") {
    const TinySweep sweep(kPlain);
    const std::string error = sweep.err().string();
    for (const char* command : {"keys", "man", "help", "completion bash"}) {
        INFO(command);
        const std::string line =
            fmt::format("{{ {} {} 2>'{}'; echo $? > '{}.code'; }} | true", DEFT_PROGRAM, command, error, error);
        CHECK(std::system(line.c_str()) == 0);
        CHECK(read_file(error).empty());
    }
}
