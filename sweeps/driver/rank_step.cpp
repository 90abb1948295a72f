#include "sweeps/driver/rank_step.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <charconv>
#include <fstream>
#include <regex>

#include "base/error.h"
#include "base/stopwatch.h"
#include "engine/comm/launch.h"
#include "experiments/attempt.h"
#include "sweeps/driver/rank_group.h"

namespace deft::sweeps {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostOfLine = 4096;  // of srun's own

// "rank 1 on n2: Segmentation fault" of the first task that srun names, or why it could not start one; empty where the
// step was cancelled before. srun cancels the other tasks of one that failed, and names them as killed.
std::string failure_in_log(const fs::path& log) {
    static const std::regex ended("srun: error: ([^ :]+): tasks? ([0-9,-]+): (.*)"),
        unstarted("srun: error: (task [0-9,-]+ launch failed: .*)");
    std::string failure;
    std::ifstream in(log);
    for (std::string line; std::getline(in, line) && line.find(" CANCELLED AT ") == std::string::npos;) {
        if (line.size() > kMostOfLine) continue;  // a regular expression of the library calls itself for each sign
        std::smatch match;
        if (std::regex_match(line, match, unstarted))
            return match[1].str() + ". See the log of slurmd; nodes that share /tmp need SLURM_PMIX_TMPDIR=/dev/shm";
        if (!std::regex_match(line, match, ended)) continue;
        const bool is_others = match[3] == "Killed" || match[3] == "Terminated";
        if (failure.empty() || !is_others)
            failure = fmt::format("rank {} on {}: {}", match[2].str(), match[1].str(), match[3].str());
        if (!is_others) return failure;
    }
    return failure;
}

}  // namespace

std::vector<std::string> rank_step_options(int tasks_of_node) {
    return {fmt::format("--ntasks-per-node={}", tasks_of_node), "--mpi=pmix", "--kill-on-bad-exit=1", "--wait=60"};
}

bool is_rank_of_step(const TrialFile& trial) {
    if (trial.ranks == 1 || trial.driver_pid != 0) return false;
    const engine::Launch launch = engine::launch_of_this_process();
    return launch.has_mpi() && !launch.is_alone();
}

bool is_first_of_step(const slurm::Variables& variables) {
    return slurm::number_in("SLURM_PROCID", variables) == 0;
}

std::vector<std::string> job_nodes_argv() {
    const char* const job = slurm::own_variable("SLURM_JOB_ID");
    return {"squeue", "--noheader", fmt::format("--jobs={}", job == nullptr ? "" : job), "--format=%D"};
}

std::optional<int> nodes_of_job(const SlurmReply& reply) {
    if (!reply.is_whole || reply.lines.size() != 1) return std::nullopt;
    const std::string& line = reply.lines.front();
    int nodes = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), nodes);
    return error == std::errc() &&
                   line.find_first_not_of(' ', static_cast<std::size_t>(end - line.data())) == std::string::npos
               ? std::optional(nodes)
               : std::nullopt;
}

std::optional<int> end_of_rank_step(const fs::path& run_folder, int ranks) {
    const fs::path journal = experiments::journal_of_rank(run_folder, 0);
    if (const auto ended = read_journal(journal).ended) return W_EXITCODE(exit_code_of(*ended), 0);
    std::optional<journal::Ended> ended = failure_of_another(run_folder, ranks);
    if (!ended) {
        const std::string failure = failure_in_log(run_folder / "log.txt");
        if (failure.empty()) return std::nullopt;
        ended.emplace();
        ended->time_ms = now_ms();
        ended->state = "failed";
        ended->fail_class = "crash";
        ended->error = failure;
    }
    journal::Writer(journal).write(*ended);
    return W_EXITCODE(exit_code_of(*ended), 0);
}

}  // namespace deft::sweeps
