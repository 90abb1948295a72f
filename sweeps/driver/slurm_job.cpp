#include "sweeps/driver/slurm_job.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "base/files.h"
#include "base/sha256.h"
#include "base/text.h"
#include "sweeps/driver/batch_job.h"
#include "sweeps/driver/step_launcher.h"

namespace deft::sweeps {

namespace {

namespace fs = std::filesystem;

// A script's arguments are the command, so no word of them is read by a shell.
constexpr const char* kScript = "#!/bin/sh\nexec \"$@\"\n";
constexpr const char* kScriptWithSetup = "#!/bin/sh\n. \"$1\"\nshift\nexec \"$@\"\n";

constexpr double kShortSeconds = 600;  // below which an attempt shares its job
constexpr double kJobSeconds = 1800;   // that such attempts fill

// A file's name with its percent signs doubled: sbatch replaces patterns such as "%j".
std::string without_patterns(const std::string& file) {
    std::string text;
    for (const char c : file) text += c == '%' ? "%%" : std::string(1, c);
    return text;
}

// Options of the environment would change jobs, and a job inside a job would take the outer one's for its own. Settings
// of Slurm and of its PMIx plugin stay.
std::vector<std::string> cleaned_environment() {
    std::vector<std::string> argv = {"env"};
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const std::string name(text.substr(0, text.find('=')));
        const bool is_of_job = name.starts_with("SLURM_") || name.starts_with("SBATCH_") || name.starts_with("PMIX_");
        const bool is_setting = name == "SLURM_CONF" || name.starts_with("SLURM_PMIX_");
        if (is_of_job && !is_setting) argv.insert(argv.end(), {"-u", name});
    }
    return argv;
}

bool is_short(const LaunchRequest& request) {
    return request.projected_seconds > 0 && request.projected_seconds < kShortSeconds;
}

double projected_seconds(std::span<const LaunchRequest> job) {
    double seconds = 0;
    for (const LaunchRequest& request : job) seconds += request.projected_seconds;
    return seconds;
}

}  // namespace

bool has_shape_of(const LaunchRequest& one, const LaunchRequest& other) {
    return one.argv.front() == other.argv.front() && one.environment == other.environment && one.cores == other.cores &&
           one.gpus == other.gpus && one.nodes == other.nodes && one.ranks == other.ranks &&
           one.grace_seconds == other.grace_seconds;
}

fs::path job_folder_of(const fs::path& first_run) {
    return first_run.parent_path().parent_path() / "jobs" / first_run.filename();
}

std::string job_name_of(const fs::path& job_folder) {
    const fs::path runs = job_folder.parent_path().parent_path() / "runs";
    return fmt::format("deft-{}-{}", sha256(runs.string()).substr(0, 8), job_folder.filename().string());
}

std::vector<std::string> write_slurm_job(const fs::path& folder, std::span<const LaunchRequest> requests,
                                         const SlurmSettings& settings, const std::optional<ArrayTask>& task) {
    const LaunchRequest& first = requests.front();
    BatchJob job;
    job.program = program_on_nodes(first.argv.front());
    for (const LaunchRequest& request : requests) job.runs.push_back(request.folder);
    job.environment = first.environment;
    job.grace_seconds = first.grace_seconds;
    job.share = {first.nodes, first.ranks, first.cores, first.gpus};
    job.submit = submit_argv(folder, first, settings);
    job.name = job_name_of(task ? task->array : folder);
    if (task) job.task = task->number;
    make_folder(folder);
    std::error_code ignored;
    for (const char* left : {"job.jsonl", "number"})  // of a root whose run folders were removed
        fs::remove(folder / left, ignored);
    write_batch_job(folder, job);
    write_file_atomically(folder / "job.sh", settings.setup.empty() ? kScript : kScriptWithSetup);
    return job.submit;
}

namespace {

// `tasks`: of an array; 0: a job of its own.
std::vector<std::string> sbatch_argv(const fs::path& folder, const LaunchRequest& request,
                                     const SlurmSettings& settings, std::size_t tasks) {
    std::vector<std::string> argv = cleaned_environment();
    const std::string log = without_patterns((folder / "log").string()) + (tasks > 0 ? "-%a.txt" : ".txt");
    argv.insert(argv.end(),
                {"sbatch", "--parsable", "--no-requeue", "--open-mode=append", "--job-name=" + job_name_of(folder),
                 tasks > 0 ? fmt::format("--array=0-{}", tasks - 1) : "--dependency=singleton",
                 fmt::format("--signal=B:TERM@{}", signal_seconds(request.grace_seconds)),
                 fmt::format("--nodes={}", request.nodes), fmt::format("--ntasks={}", request.ranks),
                 fmt::format("--cpus-per-task={}", request.cores / request.ranks), "--output=" + log});
    if (request.gpus > 0) argv.push_back(fmt::format("--gpus={}", request.gpus));
    // The job outlives a failed node, to say which one.
    if (request.nodes > 1)
        argv.insert(argv.end(), {fmt::format("--ntasks-per-node={}", request.ranks / request.nodes), "--no-kill"});
    if (request.nodes > 1 && request.gpus > 0)
        argv.push_back(fmt::format("--gpus-per-node={}", request.gpus / request.nodes));
    for (const auto& [key, value] : sbatch_options(settings)) argv.push_back(fmt::format("--{}={}", key, value));
    argv.insert(argv.end(), settings.extra.begin(), settings.extra.end());
    argv.push_back((folder / "job.sh").string());
    if (!settings.setup.empty()) argv.push_back(fs::absolute(settings.setup).string());
    argv.insert(argv.end(), {program_on_nodes(request.argv.front()), "job", folder.string()});
    return argv;
}

}  // namespace

std::vector<std::string> submit_argv(const fs::path& folder, const LaunchRequest& request,
                                     const SlurmSettings& settings) {
    return sbatch_argv(folder, request, settings, 0);
}

std::vector<std::string> write_slurm_array(const fs::path& folder, const std::vector<fs::path>& jobs,
                                           const LaunchRequest& request, const SlurmSettings& settings) {
    make_folder(folder);
    write_job_array(folder, jobs);
    write_file_atomically(folder / "job.sh", settings.setup.empty() ? kScript : kScriptWithSetup);
    return sbatch_argv(folder, request, settings, jobs.size());
}

void write_job_number(const fs::path& folder, const std::string& number) {
    write_file_atomically(folder / "number", number + "\n");
}

std::string read_job_number(const fs::path& folder) {
    try {
        return first_line(read_file(folder / "number"));
    } catch (const Error&) {
        return "";
    }
}

std::map<std::string, fs::path> jobs_by_run(const fs::path& root) {
    std::map<std::string, fs::path> jobs;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(root / "jobs", none)) {
        try {
            for (const fs::path& run : read_batch_job(entry.path()).runs) jobs[run.filename().string()] = entry.path();
        } catch (const Error&) {
            continue;
        }
    }
    return jobs;
}

bool has_room(std::span<const LaunchRequest> job, std::int64_t most) {
    if (most > 0) return job.size() < static_cast<std::size_t>(most);
    return is_short(job.back()) && projected_seconds(job) < kJobSeconds;
}

std::vector<std::vector<LaunchRequest>> packed(std::span<const LaunchRequest> requests, std::int64_t most) {
    std::vector<std::vector<LaunchRequest>> jobs;
    for (const LaunchRequest& request : requests) {
        const auto open = std::ranges::find_if(jobs, [&](const std::vector<LaunchRequest>& job) {
            return (most > 0 || is_short(request)) && has_shape_of(job.front(), request) && has_room(job, most);
        });
        if (open == jobs.end())
            jobs.push_back({request});
        else
            open->push_back(request);
    }
    return jobs;
}

}  // namespace deft::sweeps
