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
#include "sweeps/driver/program_on_nodes.h"

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
    const JobShape shape = shape_of_job(first, settings, requests.size());
    job.share = {first.nodes, first.ranks, first.cores, first.gpus};
    job.nodes = shape.nodes;
    job.at_once = shape.at_once;
    job.submit = submit_argv(folder, first, shape, settings);
    job.name = job_name_of(task ? task->array : folder);
    if (task) job.task = task->number;
    make_folder(folder);
    std::error_code ignored;
    for (const char* left : {kJobLines, "number"})  // of a root whose run folders were removed
        fs::remove(folder / left, ignored);
    write_batch_job(folder, job);
    write_file_atomically(folder / "job.sh", settings.setup.empty() ? kScript : kScriptWithSetup);
    return job.submit;
}

JobShape shape_of_job(const LaunchRequest& request, const SlurmSettings& settings, std::size_t attempts) {
    JobShape shape;
    shape.gpus = request.gpus;
    shape.nodes = request.nodes;
    shape.tasks = request.ranks;
    shape.tasks_of_node = request.ranks / request.nodes;
    shape.cores_of_task = request.cores / request.ranks;
    shape.gpus_of_node = request.gpus / request.nodes;
    if (request.nodes > 1) return shape;
    shape.at_once = static_cast<int>(std::min<std::size_t>(attempts, static_cast<std::size_t>(settings.at_once)));
    shape.tasks_of_node = std::min(shape.at_once, static_cast<int>(settings.at_once / settings.nodes));
    shape.nodes = (shape.at_once + shape.tasks_of_node - 1) / shape.tasks_of_node;
    shape.tasks = shape.at_once;
    shape.gpus = request.gpus * shape.at_once;
    shape.gpus_of_node = request.gpus * shape.tasks_of_node;
    return shape;
}

namespace {

void add_shape(const JobShape& shape, const SlurmSettings& settings, std::vector<std::string>& argv) {
    argv.insert(argv.end(), {fmt::format("--nodes={}", shape.nodes), fmt::format("--ntasks={}", shape.tasks),
                             fmt::format("--cpus-per-task={}", shape.cores_of_task)});
    const std::string type = settings.gpus.empty() ? "" : settings.gpus + ":";
    if (shape.nodes == 1) {
        if (shape.gpus > 0) argv.push_back(fmt::format("--gpus={}{}", type, shape.gpus));
    } else {
        argv.push_back(fmt::format("--ntasks-per-node={}", shape.tasks_of_node));
        argv.emplace_back("--no-kill");  // the job outlives a failed node, to say which one
        if (shape.gpus > 0) argv.push_back(fmt::format("--gpus-per-node={}{}", type, shape.gpus_of_node));
    }
    for (const auto& [key, value] : sbatch_options(settings)) argv.push_back(fmt::format("--{}={}", key, value));
    argv.insert(argv.end(), settings.extra.begin(), settings.extra.end());
}

// `tasks`: of an array; 0: a job of its own.
std::vector<std::string> sbatch_argv(const fs::path& folder, const LaunchRequest& request, const JobShape& shape,
                                     const SlurmSettings& settings, std::size_t tasks) {
    std::vector<std::string> argv = cleaned_environment();
    const std::string log = without_patterns((folder / "log").string()) + (tasks > 0 ? "-%a.txt" : ".txt");
    argv.insert(argv.end(),
                {"sbatch", "--parsable", "--no-requeue", "--open-mode=append", "--job-name=" + job_name_of(folder),
                 tasks > 0 ? fmt::format("--array=0-{}", tasks - 1) : "--dependency=singleton",
                 fmt::format("--signal=B:TERM@{}", signal_seconds(request.grace_seconds))});
    add_shape(shape, settings, argv);
    argv.push_back("--output=" + log);
    argv.push_back((folder / "job.sh").string());
    if (!settings.setup.empty()) argv.push_back(fs::absolute(settings.setup).string());
    argv.insert(argv.end(), {program_on_nodes(request.argv.front()), "job", folder.string()});
    return argv;
}

}  // namespace

std::vector<std::string> submit_argv(const fs::path& folder, const LaunchRequest& request, const JobShape& shape,
                                     const SlurmSettings& settings) {
    return sbatch_argv(folder, request, shape, settings, 0);
}

// A job that depends on another, as by singleton, is accepted whatever its shape.
std::vector<std::string> test_argv(const LaunchRequest& request, const SlurmSettings& settings) {
    std::vector<std::string> argv = cleaned_environment();
    argv.insert(argv.end(), {"sbatch", "--test-only"});
    add_shape(shape_of_job(request, settings, static_cast<std::size_t>(settings.at_once)), settings, argv);
    argv.emplace_back("--wrap=true");
    return argv;
}

std::vector<std::string> write_slurm_array(const fs::path& folder, const std::vector<fs::path>& jobs,
                                           const LaunchRequest& request, const JobShape& shape,
                                           const SlurmSettings& settings) {
    make_folder(folder);
    write_job_array(folder, jobs);
    write_file_atomically(folder / "job.sh", settings.setup.empty() ? kScript : kScriptWithSetup);
    return sbatch_argv(folder, request, shape, settings, jobs.size());
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

void note_submission(const fs::path& folder) {
    write_file_atomically(folder / "submission", "");
}

bool may_be_submitted(const fs::path& folder) {
    std::error_code unknown;  // as of a network file system: it may be
    return fs::exists(folder / "submission", unknown) || unknown || !read_job_number(folder).empty();
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

bool has_room(std::span<const LaunchRequest> job, const SlurmSettings& settings) {
    if (settings.pack > 0) return job.size() < static_cast<std::size_t>(settings.pack);
    if (job.front().nodes > 1) return is_short(job.back()) && projected_seconds(job) < kJobSeconds;
    const auto at_once = static_cast<double>(settings.at_once);
    return static_cast<double>(job.size()) < at_once ||
           (is_short(job.back()) && projected_seconds(job) / at_once < kJobSeconds);
}

std::vector<std::vector<LaunchRequest>> packed(std::span<const LaunchRequest> requests, const SlurmSettings& settings) {
    std::vector<std::vector<LaunchRequest>> jobs;
    for (const LaunchRequest& request : requests) {
        const bool shares = settings.pack > 0 || settings.at_once > 1 || is_short(request);
        const auto open = std::ranges::find_if(jobs, [&](const std::vector<LaunchRequest>& job) {
            // A long attempt does not wait in a job for short ones.
            const bool starts_at_once =
                settings.pack > 0 || is_short(request) || job.size() < static_cast<std::size_t>(settings.at_once);
            return shares && starts_at_once && has_shape_of(job.front(), request) && has_room(job, settings);
        });
        if (open == jobs.end())
            jobs.push_back({request});
        else
            open->push_back(request);
    }
    return jobs;
}

}  // namespace deft::sweeps
