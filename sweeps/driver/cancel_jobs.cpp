#include "sweeps/driver/cancel_jobs.h"

#include <algorithm>
#include <map>
#include <set>

#include "sweeps/driver/adoption.h"
#include "sweeps/driver/batch_job.h"
#include "sweeps/driver/root.h"
#include "sweeps/driver/slurm_commands.h"
#include "sweeps/driver/slurm_job.h"
#include "sweeps/driver/stop_file.h"

namespace deft::sweeps {

CancelledJobs cancel_jobs(const std::vector<results_db::LiveAttempt>& live, const std::filesystem::path& root,
                          bool at_once) {
    constexpr double kPatience = 30;
    CancelledJobs cancelled;
    const std::set<std::int64_t> queued = queued_attempts(live);
    const std::map<std::string, std::filesystem::path> jobs = jobs_by_run(std::filesystem::absolute(root));
    for (const results_db::LiveAttempt& attempt : live) {
        if (!queued.contains(attempt.id)) continue;
        const std::filesystem::path folder = below_root(root, attempt.workdir);
        write_stop_file(folder);
        ++cancelled.attempts;
        const auto job = jobs.find(folder.filename().string());
        if (job == jobs.end()) continue;
        const std::string name = read_batch_job(job->second).name;
        if (std::ranges::find(cancelled.names, name) == cancelled.names.end()) cancelled.names.push_back(name);
    }
    for (const std::string& name : cancelled.names) {
        std::vector<std::string> argv = {"scancel", "--name=" + name};
        if (!at_once) argv.emplace_back("--state=PENDING");
        const SlurmReply reply = call_slurm(argv, kPatience);
        if (reply.is_whole) continue;
        cancelled.problem = reply.complaint.empty() ? "scancel failed" : reply.complaint;
        break;
    }
    return cancelled;
}

}  // namespace deft::sweeps
