// Signals that a parent ignores or blocks.

#include "base/inherited_signals.h"

#include <sys/resource.h>

#include <array>
#include <csignal>

#include "base/error.h"
#include "base/files.h"
#include "base/process.h"
#include "tests/catch.h"
#include "tests/refusal.h"
#include "tests/temporary_folder.h"

using namespace deft;

namespace {

bool is_ignored_now(int signal) {
    struct sigaction action {};
    return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

bool is_blocked_now(int signal) {
    sigset_t mask;
    return ::pthread_sigmask(SIG_SETMASK, nullptr, &mask) == 0 && sigismember(&mask, signal) == 1;
}

void ignore_and_block_all() {
    for (const int signal : {SIGCHLD, SIGPIPE, SIGHUP, SIGINT}) ::signal(signal, SIG_IGN);
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

}  // namespace

TEST_CASE("Inherited signals are reset: children can be waited for, pipes end writers, and nothing stays blocked") {
    CHECK(test::in_child([] {
              ignore_and_block_all();
              reset_inherited_signals({});
              const bool acts = !is_ignored_now(SIGCHLD) && !is_ignored_now(SIGPIPE) && !is_blocked_now(SIGTERM);
              const bool is_kept = is_ignored_now(SIGHUP) && is_ignored_now(SIGINT);
              return acts && is_kept && run_process({"sh", "-c", "exit 7"}).exit_code == 7 ? 0 : 1;
          }) == 0);
    CHECK(test::in_child([] {
              ignore_and_block_all();
              constexpr std::array kept = {SIGTERM, SIGCHLD};
              reset_inherited_signals(kept);
              return is_blocked_now(SIGTERM) && is_blocked_now(SIGCHLD) && !is_blocked_now(SIGUSR1) ? 0 : 1;
          }) == 0);
}

TEST_CASE("A write beyond a file-size limit is refused with the limit as its reason, and the old file stays") {
    const test::TemporaryFolder folder;
    const auto file = folder / "a";
    write_file_atomically(file, "old");
    CHECK(test::in_child([&] {
              reset_inherited_signals({});
              const rlimit limit{1000, 1000};
              ::setrlimit(RLIMIT_FSIZE, &limit);
              const std::string said =
                  test::refusal(ErrorKind::io, [&] { write_file_atomically(file, std::string(5000, 'x')); });
              return said.find("File too large") != std::string::npos && said.find("ulimit -f") != std::string::npos
                         ? 0
                         : 1;
          }) == 0);
    CHECK(read_file(file) == "old");
}
