#pragma once
// Child processes side by side, with what they printed.

#include <sys/wait.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/process.h"
#include "tests/temporary_folder.h"

namespace deft::test {

struct Ended {
    int exit_code;  // 128 + signal where a signal ended it, 124 where the time did
    std::string printed;
};

using Command = std::vector<std::string>;

inline Ended run_child(Command command, const std::filesystem::path& log) {
    const Command limit = {"timeout", "500"};
    command.insert(command.begin(), limit.begin(), limit.end());
    int status = 0;
    waitpid(start_process(command, log), &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_text(log)};
}

// All of them, two at once, in order.
inline std::vector<Ended> run_children(const std::vector<Command>& commands) {
    const TemporaryFolder folder;
    std::vector<Ended> ended(commands.size());
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t i; (i = next++) < commands.size();)
            ended[i] = run_child(commands[i], folder.path() / std::to_string(i));
    };
    std::thread other(work);
    work();
    other.join();
    return ended;
}

}  // namespace deft::test
