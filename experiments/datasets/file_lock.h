#pragma once
// One process at a time: an exclusive lock on a file, waited for, and gone with the process that held it.

#include <filesystem>

namespace deft::experiments {

class FileLock {
 public:
    // Makes the file where it is absent. Errors: io.
    explicit FileLock(const std::filesystem::path& file);
    ~FileLock();
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;

 private:
    int descriptor_ = -1;
};

}  // namespace deft::experiments
