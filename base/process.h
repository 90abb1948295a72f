#pragma once
// Child processes by argument list: no shell ever sees an argument, and no variable redirects a child
// (base/child_environment.h).

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.h"

namespace deft {

struct ProcessOutput {
    int exit_code = 0;        // 128 + signal where a signal ended it
    std::string out;          // standard output
    bool is_overdue = false;  // killed, with its process group, when the patience ended
};

// Runs a program found on PATH to its end; its standard error is dropped. With a patience, it leads a process group of
// its own, and is killed when the patience ends. Errors: io, when it cannot be started.
ProcessOutput run_process(const std::vector<std::string>& argv, std::optional<std::chrono::milliseconds> patience = {});

// Starts a program in a process group of its own, standard input from /dev/null, both outputs appended to `log`.
// `environment`: "NAME=value" entries in place of, or beside, this process's own. `blocked`: signals that it starts
// with blocked. Returns its pid. Errors: io.
pid_t start_process(const std::vector<std::string>& argv, const std::filesystem::path& log,
                    const std::vector<std::string>& environment = {}, std::span<const int> blocked = {});

// A child process to talk with, a line at a time.
// In a process group of its own; killed and waited for when this goes out of scope. Its standard error is kept.
class PipedProcess {
 public:
    // Errors: io, when it cannot be started.
    explicit PipedProcess(const std::vector<std::string>& argv, const std::vector<std::string>& environment = {});
    ~PipedProcess();
    PipedProcess(const PipedProcess&) = delete;
    PipedProcess& operator=(const PipedProcess&) = delete;

    pid_t pid() const { return pid_; }
    // False where the child no longer listens.
    bool write_line(const std::string& line);
    // Without its line break. Nothing where the child closed its output first, or ended. Errors: io, for a child that
    // is silent for that long (torch.compile takes minutes) or sends a longer line than `most_bytes`.
    std::optional<std::string> read_line(std::chrono::milliseconds patience = std::chrono::minutes(10),
                                         std::size_t most_bytes = 1 << 20);

    // Stops it where it is, and lets it go on: while stopped it uses no processor.
    void freeze() const;
    void thaw() const;
    // Closes its input and waits for its end, which is forced after that long. "signal 11 (Segmentation fault)" or
    // "exit code 2"; empty where it ended well.
    std::string end(std::chrono::milliseconds patience = std::chrono::seconds(2));
    // The last line that it wrote to standard error; empty where there is none.
    std::string last_complaint() const;

 private:
    Descriptor line_, complaints_;
    pid_t pid_ = -1;
    std::string unread_;
    std::string ending_;
};

}  // namespace deft
