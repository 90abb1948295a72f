#include "base/spawn_plan.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <system_error>

#include "base/error.h"

extern char** environ;

namespace deft {

namespace {

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

}  // namespace

std::string error_text(int error) {
    return std::generic_category().message(error);
}

void Descriptor::close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
}

SpawnPlan::SpawnPlan() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    sigdelset(&all, SIGKILL);
    sigdelset(&all, SIGSTOP);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    flags_ = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    open(STDIN_FILENO, "/dev/null");
}

SpawnPlan::~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
}

void SpawnPlan::open(int number, const char* file) {
    posix_spawn_file_actions_addopen(&actions_, number, file, number == STDIN_FILENO ? O_RDONLY : O_WRONLY, 0);
}

void SpawnPlan::duplicate(int from, int to) {
    posix_spawn_file_actions_adddup2(&actions_, from, to);
}

void SpawnPlan::own_group() {
    posix_spawnattr_setpgroup(&attributes_, 0);
    flags_ |= POSIX_SPAWN_SETPGROUP;
}

void SpawnPlan::block(std::span<const int> signals) {
    sigset_t blocked;
    sigemptyset(&blocked);
    for (const int signal : signals) sigaddset(&blocked, signal);
    posix_spawnattr_setsigmask(&attributes_, &blocked);
}

pid_t SpawnPlan::spawn(const std::vector<std::string>& argv, const std::vector<std::string>& changed) {
    if (argv.empty()) throw Error(ErrorKind::io, "no program to start");
    std::vector<char*> arguments;
    for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    std::vector<char*> environment = environment_with(changed);
    posix_spawnattr_setflags(&attributes_, flags_);
    pid_t pid = -1;
    const int error = posix_spawnp(&pid, arguments[0], &actions_, &attributes_, arguments.data(), environment.data());
    if (error != 0)
        throw Error(ErrorKind::io, fmt::format("cannot start {}: {}", argv[0], error_text(error)),
                    error == ENOENT ? "install it, or put its folder on PATH" : "");
    return pid;
}

}  // namespace deft
