#pragma once
// The attempt that owns a configuration's checkpoints. A batch system may start an attempt twice, or leave one running
// that its driver believes dead: only the newest one writes.

#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/stopwatch.h"

namespace deft::experiments {

// The attempt ends without another line in its journal, and without a checkpoint.
class NotOwner : public Error {
 public:
    using Error::Error;
};

// Makes the attempt of that name the owner; the folder is made. Errors: io.
void own_checkpoints(const std::filesystem::path& checkpoint_folder, const std::string& attempt);

// An attempt's look at its ownership. A folder without an owner is everybody's: programs before this one name none.
class CheckpointOwner {
 public:
    CheckpointOwner(const std::filesystem::path& checkpoint_folder, std::string attempt, double recheck_seconds = 10);

    // Looks where the last look is older than recheck_seconds. Errors: NotOwner.
    void require();
    // Looks. Errors: NotOwner.
    void require_now();

 private:
    std::filesystem::path file_;
    std::string attempt_;
    double recheck_seconds_;
    Clock::time_point looked_{};
};

}  // namespace deft::experiments
