#include "experiments/checkpoint_owner.h"

#include <fmt/format.h>

#include <fstream>
#include <utility>

#include "base/files.h"

namespace deft::experiments {

namespace {

std::filesystem::path owner_file(const std::filesystem::path& checkpoint_folder) {
    return checkpoint_folder / "owner";
}

}  // namespace

void own_checkpoints(const std::filesystem::path& checkpoint_folder, const std::string& attempt) {
    make_folder(checkpoint_folder);
    write_file_atomically(owner_file(checkpoint_folder), attempt + "\n");
}

CheckpointOwner::CheckpointOwner(const std::filesystem::path& checkpoint_folder, std::string attempt,
                                 double recheck_seconds)
    : file_(owner_file(checkpoint_folder)), attempt_(std::move(attempt)), recheck_seconds_(recheck_seconds) {}

void CheckpointOwner::require() {
    if (looked_ == Clock::time_point{} || seconds_since(looked_) >= recheck_seconds_) require_now();
}

void CheckpointOwner::require_now() {
    looked_ = Clock::now();
    // Opened for each look: a network file system may keep the content of an open file.
    std::ifstream in(file_);
    std::string owner;
    if (!std::getline(in, owner) || owner.empty() || owner == attempt_) return;
    throw NotOwner(ErrorKind::missing,
                   fmt::format("another attempt owns the checkpoints of this configuration ({}), not {}",
                               file_.string(), attempt_),
                   {}, "the journal and the checkpoints");
}

}  // namespace deft::experiments
