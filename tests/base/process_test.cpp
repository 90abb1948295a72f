#include "base/process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/temporary_folder.h"

using namespace deft;
namespace fs = std::filesystem;

TEST_CASE("Arguments reach a program as they are") {
    const ProcessOutput output = run_process({"printf", "%s|%s|%s", "a b", "$(id); `id` 'x\"", "\n*"});
    CHECK(output.exit_code == 0);
    CHECK(output.out == "a b|$(id); `id` 'x\"|\n*");
}

TEST_CASE("Exit codes and signals are distinguished") {
    CHECK(run_process({"sh", "-c", "exit 7"}).exit_code == 7);
    CHECK(run_process({"sh", "-c", "kill -9 $$"}).exit_code == 128 + 9);
    CHECK(run_process({"sh", "-c", "echo out; echo err >&2"}).out == "out\n");
    CHECK(run_process({"cat"}).out == "");  // standard input is empty
}

TEST_CASE("More output than a pipe holds is read whole") {
    CHECK(run_process({"head", "-c", "1000000", "/dev/zero"}).out.size() == 1'000'000);
}

TEST_CASE("A program that exceeds the patience is killed with what it started") {
    using namespace std::chrono_literals;
    const ProcessOutput quick = run_process({"sh", "-c", "echo out; exit 7"}, 60s);
    CHECK_FALSE(quick.is_overdue);
    CHECK(quick.exit_code == 7);
    CHECK(quick.out == "out\n");
    CHECK_FALSE(run_process({"true"}).is_overdue);

    const test::TemporaryFolder folder;
    const fs::path late = folder / "late";
    const auto begin = std::chrono::steady_clock::now();
    // A program that has closed its output hangs as well, and so does one whose helper keeps the output open.
    for (const char* script : {"echo out; sleep 60 & sleep 1; touch \"$0\"; wait", "exec >&-; sleep 1; touch \"$0\"",
                               "echo out; { sleep 1; touch \"$0\"; } & exit 0"}) {
        CAPTURE(script);
        CHECK(run_process({"sh", "-c", script, late.string()}, 200ms).is_overdue);
    }
    CHECK(std::chrono::steady_clock::now() - begin < 30s);
    std::this_thread::sleep_for(1500ms);
    CHECK_FALSE(fs::exists(late));
    CHECK_FALSE(test::refusal(ErrorKind::io, [] { run_process({"deft-no-such-program"}, 1s); }) == "accepted");
}

TEST_CASE("A program that is not there is an io error") {
    for (const auto& argv : {std::vector<std::string>{"deft-no-such-program"}, {}})
        CHECK(test::refusal(ErrorKind::io, [&] { run_process(argv); }) != "accepted");
    CHECK_THROWS_AS(start_process({"true"}, "/nonexistent/log"), Error);
}

TEST_CASE("A started process leads its own group, logs both outputs and ignores none of its signals") {
    const fs::path log = fs::temp_directory_path() / ("deft_process_" + std::to_string(::getpid()) + ".log");
    write_file_atomically(log, "before\n");
    struct sigaction ignore {
    }, old{};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGTERM, &ignore, &old);
    const pid_t pid = start_process({"sh", "-c", "echo out; echo err >&2; cat; sleep 30"}, log);
    ::sigaction(SIGTERM, &old, nullptr);
    CHECK(::getpgid(pid) == pid);
    for (int i = 0; i < 500 && read_file(log).size() < 15; ++i) ::usleep(10'000);
    CHECK(read_file(log) == "before\nout\nerr\n");
    CHECK(::kill(-pid, SIGTERM) == 0);
    int status = 0;
    CHECK(::waitpid(pid, &status, 0) == pid);
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGTERM);
    fs::remove(log);
}
