#include "base/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <cerrno>
#include <csignal>
#include <system_error>

#include "base/error.h"

extern char** environ;

namespace deft {

namespace {

std::string reason(int error) {
    return std::generic_category().message(error);
}

class Descriptor {
 public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() { close(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int number() const { return number_; }
    void close() {
        if (number_ >= 0) ::close(number_);
        number_ = -1;
    }

 private:
    int number_;
};

// This process's environment with those entries in place of its own of the same names; null at the end.
std::vector<char*> environment_with(const std::vector<std::string>& changed) {
    const auto is_changed = [&](const char* entry) {
        const std::string_view name = std::string_view(entry).substr(0, std::string_view(entry).find('='));
        return std::any_of(changed.begin(), changed.end(), [&](const std::string& other) {
            return std::string_view(other).substr(0, other.find('=')) == name;
        });
    };
    std::vector<char*> result;
    for (char** entry = environ; *entry != nullptr; ++entry)
        if (!is_changed(*entry)) result.push_back(*entry);
    for (const std::string& entry : changed) result.push_back(const_cast<char*>(entry.c_str()));
    result.push_back(nullptr);
    return result;
}

class SpawnPlan {
 public:
    SpawnPlan() {
        posix_spawn_file_actions_init(&actions_);
        posix_spawnattr_init(&attributes_);
        // The child starts with nothing blocked and nothing ignored, whatever the parent does with its signals.
        sigset_t none, all;
        sigemptyset(&none);
        sigfillset(&all);
        sigdelset(&all, SIGKILL);
        sigdelset(&all, SIGSTOP);
        posix_spawnattr_setsigmask(&attributes_, &none);
        posix_spawnattr_setsigdefault(&attributes_, &all);
        flags_ = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
        posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    ~SpawnPlan() {
        posix_spawn_file_actions_destroy(&actions_);
        posix_spawnattr_destroy(&attributes_);
    }
    SpawnPlan(const SpawnPlan&) = delete;
    SpawnPlan& operator=(const SpawnPlan&) = delete;

    void open(int number, const char* file) { posix_spawn_file_actions_addopen(&actions_, number, file, O_WRONLY, 0); }
    void duplicate(int from, int to) { posix_spawn_file_actions_adddup2(&actions_, from, to); }
    void own_group() {
        posix_spawnattr_setpgroup(&attributes_, 0);
        flags_ |= POSIX_SPAWN_SETPGROUP;
    }

    pid_t spawn(const std::vector<std::string>& argv, const std::vector<std::string>& changed = {}) {
        if (argv.empty()) throw Error(ErrorKind::io, "no program to start");
        std::vector<char*> arguments;
        for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
        arguments.push_back(nullptr);
        std::vector<char*> environment = environment_with(changed);
        posix_spawnattr_setflags(&attributes_, flags_);
        pid_t pid = -1;
        const int error = posix_spawnp(&pid, arguments[0], &actions_, &attributes_, arguments.data(), environment.data());
        if (error != 0)
            throw Error(ErrorKind::io, fmt::format("cannot start {}: {}", argv[0], reason(error)),
                        error == ENOENT ? "install it, or put its folder on PATH" : "");
        return pid;
    }

 private:
    posix_spawn_file_actions_t actions_{};
    posix_spawnattr_t attributes_{};
    short flags_ = 0;
};

}  // namespace

ProcessOutput run_process(const std::vector<std::string>& argv) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw Error(ErrorKind::io, fmt::format("cannot make a pipe: {}", reason(errno)));
    const Descriptor reading(ends[0]);
    Descriptor writing(ends[1]);
    SpawnPlan plan;
    plan.duplicate(writing.number(), STDOUT_FILENO);
    plan.open(STDERR_FILENO, "/dev/null");
    const pid_t pid = plan.spawn(argv);
    writing.close();

    ProcessOutput output;
    std::array<char, 1 << 14> buffer{};
    for (;;) {
        const ssize_t count = ::read(reading.number(), buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        output.out.append(buffer.data(), static_cast<std::size_t>(count));
    }
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) throw Error(ErrorKind::io, fmt::format("lost {}: {}", argv[0], reason(errno)));
    output.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return output;
}

pid_t start_process(const std::vector<std::string>& argv, const std::filesystem::path& log,
                    const std::vector<std::string>& environment) {
    const Descriptor file(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    if (file.number() < 0) throw Error(ErrorKind::io, fmt::format("cannot write {}: {}", log.string(), reason(errno)));
    SpawnPlan plan;
    plan.duplicate(file.number(), STDOUT_FILENO);
    plan.duplicate(file.number(), STDERR_FILENO);
    plan.own_group();
    return plan.spawn(argv, environment);
}

}  // namespace deft
