#pragma once
// One writer a database: an advisory lock on a file beside it, released by the kernel however the process ends.

#include <filesystem>

namespace deft::results_db {

class WriterLock {
 public:
    // Takes <database>.lock. Errors: database (held by another process, with its pid), io.
    explicit WriterLock(const std::filesystem::path& database);
    ~WriterLock();
    WriterLock(const WriterLock&) = delete;
    WriterLock& operator=(const WriterLock&) = delete;

 private:
    int file_ = -1;
};

}  // namespace deft::results_db
