#pragma once
// The time for which jobs of a batch system held their cores and cards, and the share of it in which no attempt used
// them. Each job notes it in its folder's job.jsonl.

#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "results_db/rows.h"
#include "sweeps/driver/batch_job.h"

namespace deft::sweeps {

// Lines of job.jsonl at the begin of a job, with the nodes, cores and cards that Slurm gave it, and at its end.
void note_job_begin(const std::filesystem::path& job_folder, const BatchJob& job);
void note_job_end(const std::filesystem::path& job_folder);

// Device-seconds.
struct HeldTime {
    double held = 0, used = 0;
    double idle_share() const { return held > 0 ? 1 - used / held : 0; }
};

// A job's devices are its cards where it has some, else its cores.
struct JobAccount {
    HeldTime cores, cards;
    std::size_t jobs = 0;  // that have begun
};

// Adds a job's time, until its last line where it has not ended. A job that never began adds nothing, and lines that
// are torn or foreign are passed over.
void add_job(const std::filesystem::path& job_folder, JobAccount& account);

// The account of the jobs below the root that have any of these run folders, by their names.
JobAccount account_of_jobs(const std::filesystem::path& root, const std::set<std::string>& runs);

// "held 3.25 core-hours, 12.0% idle ($0.16) in 4 jobs"; empty where no job has begun.
std::string describe(const JobAccount& account, const std::optional<results_db::Price>& price);

}  // namespace deft::sweeps
