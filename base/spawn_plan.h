#pragma once
// The parts of starting a child process: a descriptor that closes itself, and what the child gets.

#include <spawn.h>
#include <sys/types.h>

#include <span>
#include <string>
#include <vector>

namespace deft {

class Descriptor {
 public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() { close(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int number() const { return number_; }
    void close();
    void reset(int number) {
        close();
        number_ = number;
    }

 private:
    int number_;
};

// The child starts with nothing ignored and nothing blocked but what it is told, whatever the parent does with its
// signals, and with standard input from /dev/null until told otherwise.
class SpawnPlan {
 public:
    SpawnPlan();
    ~SpawnPlan();
    SpawnPlan(const SpawnPlan&) = delete;
    SpawnPlan& operator=(const SpawnPlan&) = delete;

    void open(int number, const char* file);
    void duplicate(int from, int to);
    void own_group();
    void block(std::span<const int> signals);
    // `changed`: "NAME=value" entries in place of, or beside, this process's own. Errors: io.
    pid_t spawn(const std::vector<std::string>& argv, const std::vector<std::string>& changed = {});

 private:
    posix_spawn_file_actions_t actions_{};
    posix_spawnattr_t attributes_{};
    short flags_ = 0;
};

// "No such file or directory", of an errno.
std::string error_text(int error);

}  // namespace deft
