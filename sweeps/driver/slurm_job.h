#pragma once
// A Slurm job's folder, name and submission.

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sweeps/driver/launcher.h"
#include "sweeps/spec/slurm_settings.h"

namespace deft::sweeps {

// <root>/jobs/NAME of the run folder that the job begins with.
std::filesystem::path job_folder_of(const std::filesystem::path& first_run);

// "deft-ROOT-RUN". Names of roots differ, so that the jobs of two never wait for each other.
std::string job_name_of(const std::filesystem::path& job_folder);

// The least number of equal jobs that are submitted at once, as an array.
inline constexpr std::size_t kLeastArray = 20;

// The part of the cluster that a job asks for. Attempts on nodes of their own share a job with others; ranks on several
// nodes have one to themselves.
struct JobShape {
    int at_once = 1;  // attempts that run side by side
    int nodes = 1;
    int tasks = 1, tasks_of_node = 1;  // a task is such an attempt, or a rank
    int cores_of_task = 1;
    int gpus = 0, gpus_of_node = 0;  // 0: none
    bool operator==(const JobShape&) const = default;
};
// The shape of a job of that many attempts, which differ in their folders alone.
JobShape shape_of_job(const LaunchRequest& request, const SlurmSettings& settings, std::size_t attempts);

// A task of a job array.
struct ArrayTask {
    std::filesystem::path array;  // its folder
    int number = 0;
};

// Writes what `deft job` needs to run these attempts, which share all but their folders, and returns the command that
// submits it as a job of its own.
std::vector<std::string> write_slurm_job(const std::filesystem::path& folder, std::span<const LaunchRequest> requests,
                                         const SlurmSettings& settings, const std::optional<ArrayTask>& task = {});

// Whether two attempts differ in their folders alone, so that they may share a job.
bool has_shape_of(const LaunchRequest& one, const LaunchRequest& other);

// Writes the array of these job folders, and returns the command that submits it. Slurm starts its tasks side by side,
// so singleton does not keep a task from a second start; the claims of its attempts do.
std::vector<std::string> write_slurm_array(const std::filesystem::path& folder,
                                           const std::vector<std::filesystem::path>& jobs, const LaunchRequest& request,
                                           const JobShape& shape, const SlurmSettings& settings);

// The command that submits such a job: its name, its cores and cards, the signal before its end, and the settings.
std::vector<std::string> submit_argv(const std::filesystem::path& folder, const LaunchRequest& request,
                                     const JobShape& shape, const SlurmSettings& settings);
// The command that asks Slurm whether it would take a full job of such attempts, and submits none.
std::vector<std::string> test_argv(const LaunchRequest& request, const SlurmSettings& settings);

// Keeps the number that Slurm gave the job, for a later driver; empty: not known.
void write_job_number(const std::filesystem::path& folder, const std::string& number);
std::string read_job_number(const std::filesystem::path& folder);

// Notes that sbatch is called for the job next: without the note, Slurm cannot know the job.
void note_submission(const std::filesystem::path& folder);
bool may_be_submitted(const std::filesystem::path& folder);

// The job folders below the root by the names of their run folders. A folder that is torn or foreign is passed over.
std::map<std::string, std::filesystem::path> jobs_by_run(const std::filesystem::path& root);

// The parts of a list of attempts, in their order, that are a job each. Attempts of one job have one shape, at most
// settings.pack a job where that is positive. Otherwise a job has settings.at_once, or as many short ones (projected
// below ten minutes) as fill half an hour.
std::vector<std::vector<LaunchRequest>> packed(std::span<const LaunchRequest> requests, const SlurmSettings& settings);
// Whether a job may take further attempts of its shape.
bool has_room(std::span<const LaunchRequest> job, const SlurmSettings& settings);

}  // namespace deft::sweeps
