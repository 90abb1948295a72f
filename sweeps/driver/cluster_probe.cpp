#include "sweeps/driver/cluster_probe.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/stopwatch.h"
#include "base/this_machine.h"
#include "results_db/open.h"
#include "sweeps/driver/foreign_json.h"
#include "sweeps/driver/provenance.h"
#include "sweeps/driver/slurm_commands.h"
#include "sweeps/driver/slurm_job.h"

namespace deft::sweeps {

namespace {

namespace fs = std::filesystem;

constexpr const char *kProbe = "probe.json", *kAnswer = "answer.json", *kLock = "lock";

// Whether somebody has a lock on the file.
bool is_locked(const fs::path& file) {
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor < 0) return false;
    const bool is_free = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
    ::close(descriptor);
    return !is_free;
}

std::optional<Json> read_answer(const fs::path& folder) {
    std::error_code none;
    if (!fs::exists(folder / kAnswer, none)) return std::nullopt;
    Json json = try_parse_json(read_file(folder / kAnswer));
    return json.is_object() ? std::optional(std::move(json)) : std::nullopt;
}

// Slurm's word on why the job has not answered.
std::string unanswered(const std::string& name, double seconds) {
    const auto jobs = queued_jobs(call_slurm(queue_argv(), 5));
    std::string state = "is not in the queue";
    if (jobs)
        for (const QueuedJob& job : *jobs)
            if (job.name == name) state = fmt::format("is {} ({})", job.state, job.reason);
    return fmt::format("the job gave no answer within {:g} s and {}", seconds, state);
}

}  // namespace

ClusterProbe probe_cluster(const fs::path& root, const SlurmSettings& settings, const ProbeOptions& options) {
    const std::string nonce = results_db::random_uid();
    const fs::path folder = fs::absolute(root) / "jobs" / ("probe-" + nonce.substr(0, 8));
    make_folder(folder);
    ClusterProbe probe;
    {
        const FileLock lock(folder / kLock);
        write_file_atomically(folder / kProbe, json_text(Json{{"nonce", nonce}, {"version", version_text()}}) + "\n");
        write_file_atomically(folder / "job.sh", "#!/bin/sh\nexec \"$@\"\n");
        LaunchRequest request;
        request.argv = {options.program.string()};
        const SlurmReply reply =
            call_slurm(submit_argv(folder, request, shape_of_job(request, settings, 1), settings), options.answer);
        if (!submitted_job(reply)) {
            probe.problem = fmt::format("sbatch refused the job: {}",
                                        reply.complaint.empty() ? "it gave no number" : reply.complaint);
            probe.fix = "correct --slurm; `sinfo` lists partitions";
        }
        const Clock::time_point start = Clock::now();
        std::optional<Json> answer;
        while (probe.problem.empty() && !(answer = read_answer(folder))) {
            if (seconds_since(start) > options.answer) {
                probe.problem = unanswered(job_name_of(folder), options.answer);
                probe.fix = fmt::format("see that the nodes reach {} at the same path", folder.string());
                call_slurm({"scancel", "--name=" + job_name_of(folder)}, 5);
            }
            std::this_thread::sleep_for(std::chrono::duration<double>(options.look));
        }
        if (answer) {
            probe.host = text_of(*answer, "host", "an unnamed node");
            probe.sees_files = text_of(*answer, "nonce") == nonce;
            probe.has_version = text_of(*answer, "version") == version_text();
            const auto locked = answer->find("locked");
            probe.sees_lock = locked != answer->end() && locked->is_boolean() && locked->get<bool>();
        }
    }
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    fs::remove(folder.parent_path(), ignored);  // where nothing else is in it
    return probe;
}

bool is_probe(const fs::path& job_folder) {
    std::error_code none;
    return fs::exists(job_folder / kProbe, none);
}

void answer_probe(const fs::path& job_folder) {
    const Json probe = try_parse_json(read_file(job_folder / kProbe));
    const Json answer = {{"nonce", probe.is_object() ? text_of(probe, "nonce") : std::string()},
                         {"host", host_name()},
                         {"version", version_text()},
                         {"locked", is_locked(job_folder / kLock)}};
    write_file_atomically(job_folder / kAnswer, json_text(answer) + "\n");
}

}  // namespace deft::sweeps
