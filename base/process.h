#pragma once
// Child processes by argument list: no shell ever sees an argument.

#include <sys/types.h>

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace deft {

struct ProcessOutput {
    int exit_code = 0;  // 128 + signal where a signal ended it
    std::string out;    // standard output
};

// Runs a program found on PATH to its end; its standard error is dropped. Errors: io, when it cannot be started.
ProcessOutput run_process(const std::vector<std::string>& argv);

// Starts a program in a process group of its own, standard input from /dev/null, both outputs appended to `log`.
// `environment`: "NAME=value" entries in place of, or beside, this process's own. `blocked`: signals that it starts with
// blocked. Returns its pid. Errors: io.
pid_t start_process(const std::vector<std::string>& argv, const std::filesystem::path& log,
                    const std::vector<std::string>& environment = {}, std::span<const int> blocked = {});

}  // namespace deft
