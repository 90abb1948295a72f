// The program on terminals: their width, their colour, and pipes that close early.

#include <sys/ioctl.h>

#include <map>
#include <optional>
#include <sstream>

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
    std::string text(1 << 16, '\0');
    std::size_t length = 0;
    const int other_end = ::open(name.c_str(), O_RDWR | O_NOCTTY);  // reading would end before the process begins
    process.wait();
    ::close(other_end);
    for (ssize_t count;
         length < text.size() && (count = ::read(terminal, text.data() + length, text.size() - length)) > 0;)
        length += static_cast<std::size_t>(count);
    ::close(terminal);
    text.resize(length);
    std::erase(text, '\r');
    return text;
}

}  // namespace

TEST_CASE("A terminal has messages in colour unless it is dumb or NO_COLOR is set", "[surroundings]") {
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

TEST_CASE("No line of a first screen or of the status is wider than a terminal of 40 columns", "[surroundings]") {
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

TEST_CASE("A pipe that closes early ends the program quietly", "[surroundings]") {
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
