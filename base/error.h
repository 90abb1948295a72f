#pragma once
// One exception type for every error that a user can fix. The kind decides the process's exit code.

#include <stdexcept>
#include <string>

namespace deft {

// A position in a text file; line and column count from 1, 0 means unknown.
struct Place {
    std::string file;
    int line = 0;
    int column = 0;

    // "file:line:column", as far as known.
    std::string text() const;
};

enum class ErrorKind {
    usage,      // a command line that makes no sense
    config,     // a sweep or trial configuration that makes no sense
    io,         // a file, folder or process that could not be read, written or started
    nonfinite,  // training produced NaN or infinity
    memory,     // an allocation that failed
    device,     // a GPU, or its driver, that failed in the middle of its work
    data,       // a corpus or another data file that is not here
    missing,    // nothing measured, no such row
    database,   // locked, foreign, corrupt or too new
};

class Error : public std::runtime_error {
 public:
    // what: the failure. fix: how to fix it. unchanged: the data left as they were, as in "the database" or "nothing
    // was written". Empty parts are left out.
    Error(ErrorKind kind, const std::string& what, const std::string& fix = {}, const std::string& unchanged = {});
    Error(ErrorKind kind, const Place& place, const std::string& what, const std::string& fix = {},
          const std::string& unchanged = {});

    ErrorKind kind() const { return kind_; }

 private:
    ErrorKind kind_;
};

// The documented exit codes (docs/exit-codes.md).
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;     // some trials failed, or an I/O error
inline constexpr int kExitUsage = 2;      // usage or configuration
inline constexpr int kExitWorse = 3;      // a gate says worse
inline constexpr int kExitUnclear = 4;    // inconclusive, if the caller asked for this code
inline constexpr int kExitNothing = 5;    // nothing measured
inline constexpr int kExitDatabase = 6;   // database locked, foreign, corrupt or too new
inline constexpr int kExitWorkLeft = 75;  // stopped with work left

int exit_code(ErrorKind kind);

}  // namespace deft
