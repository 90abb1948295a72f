#pragma once
// A root beside itself: its database, the journals, checkpoints and files that the database names, and the folders that
// it does not.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "results_db/verify/verifier.h"

namespace deft::sweeps {

enum class VerifyDepth {
    quick,  // recorded files by their size, checkpoints by the presence of their files
    whole,  // both by their hash
};

struct VerifiedRoot {
    std::int64_t trials = 0, attempts = 0, rows = 0;
    std::int64_t files = 0, bytes = 0;  // of checkpoints and recorded files
    std::int64_t live = 0;              // attempts under way, or of a killed driver
    std::int64_t merged = 0;            // attempts from elsewhere, without files here
    std::int64_t former = 0;            // attempts of a migrated root, whose journals are not compared
    std::vector<results_db::Fault> faults;
};

// Changes nothing. A driver may write to the root meanwhile. Errors: missing, database, as results_db::Reader.
VerifiedRoot verify_root(const std::filesystem::path& root, VerifyDepth depth);

}  // namespace deft::sweeps
