#pragma once
// Attempts that go on as Slurm jobs without a driver, and the driver that takes them over.

#include <cstdint>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "results_db/live_attempts.h"
#include "sweeps/driver/launcher.h"

namespace deft::sweeps {

// The ids of those that may go on without a driver.
std::set<std::int64_t> queued_attempts(const std::vector<results_db::LiveAttempt>& live);

struct AdoptedAttempt {
    results_db::LiveAttempt attempt;
    std::size_t place = 0;  // of the trial in the sweep
    RunId run = -1;
};

struct Adoption {
    std::vector<AdoptedAttempt> adopted;
    std::set<std::int64_t> kept;  // ids: those adopted, and those of other sweeps
};

// Hands the queued attempts of the selected trials to the launcher. One that left no job, or was asked to end and
// cannot be adopted, is neither adopted nor kept. trial_ids: of the database, by place. Errors: usage, where trials of
// this run have jobs that the launcher cannot adopt. cancel_with: the command that cancels them.
Adoption adopt(const std::vector<results_db::LiveAttempt>& live, const std::filesystem::path& root,
               std::span<const std::int64_t> trial_ids, std::span<const char> is_selected, Launcher& launcher,
               const std::string& cancel_with);

}  // namespace deft::sweeps
