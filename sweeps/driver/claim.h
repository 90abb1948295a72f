#pragma once
// The claim on a run folder. A batch system may start a job twice; the first process that claims the folder runs it.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "results_db/rows.h"

namespace deft::sweeps {

struct Claim {
    std::string host;
    std::int64_t pid = 0;
    std::string job;    // Slurm's, "12.3" of a step; empty outside Slurm
    std::string nodes;  // of that job or step, as Slurm lists them, or of the ranks
    std::string nonce;
    std::int64_t time_ms = 0;
    std::optional<results_db::Host> machine = {};  // of an attempt whose machine its driver does not know
};

// RUN_FOLDER/claim
std::filesystem::path claim_folder(const std::filesystem::path& run_folder);

// Makes claim_folder(), which the file system grants once, and writes who has it: with this machine's description
// where a batch system or a hostfile chose the machine. `nodes`: of the attempt, where Slurm does not say. Errors:
// usage, naming that process; io.
void claim_run_folder(const std::filesystem::path& run_folder, bool is_placed = false, const std::string& nodes = {});

// Nothing where nobody claimed the folder. A claim whose holder was killed before it wrote who it is has no host.
std::optional<Claim> read_claim(const std::filesystem::path& run_folder);

}  // namespace deft::sweeps
