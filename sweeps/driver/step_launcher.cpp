#include "sweeps/driver/step_launcher.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/error.h"
#include "base/process.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "sweeps/driver/claim.h"
#include "sweeps/driver/ended_process.h"
#include "sweeps/driver/program_on_nodes.h"
#include "sweeps/driver/rank_step.h"
#include "sweeps/driver/slurm_commands.h"
#include "sweeps/driver/step_log.h"
#include "sweeps/driver/step_variables.h"
#include "sweeps/driver/stop_file.h"
#include "sweeps/driver/trial_process.h"

namespace deft::sweeps {

namespace {

namespace fs = std::filesystem;

constexpr const char* kLog = "log.txt";
constexpr double kCancelSeconds = 15;  // for which srun may outlive the step that scancel ends
constexpr double kNodesSeconds = 15;   // between two questions after the nodes of the job
constexpr double kReplySeconds = 2;    // for the answer

struct Step {
    pid_t srun = -1;
    fs::path folder;
    int nodes = 1;                           // that it takes
    int ranks = 1;                           // that srun starts
    std::string host;                        // empty until the trial has claimed its folder
    std::string refusal;                     // why it was withdrawn before it began
    Clock::time_point asked = Clock::now();  // how many nodes the job has
    std::optional<Clock::time_point> cancelled;
};

// A run is the process of srun, which leads a group. No signal goes to srun while its step runs, since srun would end
// the step at once.
class StepLauncher final : public Launcher {
 public:
    explicit StepLauncher(SlurmAllocation allocation) : allocation_(std::move(allocation)) {}

    ~StepLauncher() override {
        for (const pid_t helper : helpers_) ::kill(-helper, SIGKILL);
        while (!helpers_.empty()) reap_helpers();
    }

    RunId start(const LaunchRequest& request) override {
        std::vector<std::string> environment = request.environment;
        if (request.nodes > 1) environment.emplace_back(kYieldingRanks);
        const pid_t srun = start_process(command(request), request.folder / kLog, environment);
        Step step;
        step.srun = srun;
        step.folder = request.folder;
        step.nodes = request.nodes;
        step.ranks = request.ranks;
        steps_.push_back(std::move(step));
        return srun;
    }

    std::vector<std::pair<RunId, RunStatus>> look() override {
        reap_helpers();
        std::vector<std::pair<RunId, RunStatus>> seen;
        std::erase_if(steps_, [&](Step& step) {
            if (step.cancelled && seconds_since(*step.cancelled) > kCancelSeconds) ::kill(-step.srun, SIGKILL);
            if (step.host.empty())
                if (const std::optional<Claim> claim = read_claim(step.folder)) step.host = claim->host;
            withdraw_without_nodes(step);
            RunStatus status;
            status.phase = step.host.empty() ? RunPhase::waiting : RunPhase::running;
            status.host = step.host;
            if (step.host.empty()) status.reason = "Slurm has not started its step";
            const std::optional<EndedProcess> ended = take_ended_process(step.srun);
            if (ended) {
                status.phase = RunPhase::ended;
                status.wait_status = step_wait_status(ended->wait_status);
                const StepWords words =
                    step.refusal.empty() ? step_words(step.folder / kLog) : StepWords{BatchEnd::refusal, step.refusal};
                status.batch_end = words.end;
                status.batch_words = words.line;
                take_end_of_ranks(step, ended->wait_status, status);
            }
            seen.emplace_back(step.srun, status);
            return ended.has_value();
        });
        return seen;
    }

    void ask_to_end(RunId run) override {
        for (const Step& step : steps_)
            if (step.srun == run) write_stop_file(step.folder);
    }

    void end(RunId run) override {
        for (Step& step : steps_)
            if (step.srun == run && !step.cancelled) cancel(step);
    }

    const char* name() const override { return "steps"; }
    std::vector<std::string> command(const LaunchRequest& request) const override {
        LaunchRequest on_node = request;
        on_node.argv.front() = program_on_nodes(request.argv.front());
        return step_argv(on_node, allocation_);
    }
    bool starts_children() const override { return false; }
    results_db::ProcessIdentity process_of(RunId run) const override { return identify(static_cast<pid_t>(run)); }

 private:
    // A controller that is down lets scancel wait, so nobody waits for scancel. A step that has not begun is srun's
    // own request, which ends with srun.
    void cancel(Step& step) {
        step.cancelled = Clock::now();
        const std::optional<Claim> claim = read_claim(step.folder);
        if (!claim || claim->job.empty()) {
            ::kill(-step.srun, SIGKILL);
            return;
        }
        try {
            helpers_.push_back(start_process({"scancel", "--signal=KILL", claim->job}, step.folder / kLog));
        } catch (const Error&) {
            ::kill(-step.srun, SIGKILL);
        }
    }

    // srun cancels a step in which a rank failed. One that was killed may leave its ranks running.
    static void take_end_of_ranks(const Step& step, int srun_status, RunStatus& status) {
        const bool has_reason = status.batch_end != BatchEnd::none && status.batch_end != BatchEnd::cancellation &&
                                status.batch_end != BatchEnd::forgotten;
        if (step.ranks == 1 || step.cancelled || has_reason || !WIFEXITED(srun_status)) return;
        const std::optional<int> wait_status = end_of_rank_step(step.folder, step.ranks);
        if (!wait_status) return;
        status.wait_status = *wait_status;
        status.batch_end = BatchEnd::none;
        status.batch_words.clear();
    }

    // srun waits for nodes without an end, and a job that outlived a failed node gets no other in its place.
    static void withdraw_without_nodes(Step& step) {
        if (step.nodes == 1 || !step.host.empty() || !step.refusal.empty() || step.cancelled) return;
        if (seconds_since(step.asked) < kNodesSeconds) return;
        step.asked = Clock::now();
        const std::optional<int> nodes = nodes_of_job(call_slurm(job_nodes_argv(), kReplySeconds));
        if (!nodes || *nodes >= step.nodes) return;
        step.refusal = fmt::format("this job has {} left, and a trial takes {}", counted(*nodes, "node"), step.nodes);
        ::kill(-step.srun, SIGKILL);
    }

    void reap_helpers() {
        std::erase_if(helpers_, [](pid_t helper) { return take_ended_process(helper).has_value(); });
    }

    SlurmAllocation allocation_;
    std::vector<Step> steps_;
    std::vector<pid_t> helpers_;  // running scancel commands
};

}  // namespace

std::vector<std::string> step_argv(const LaunchRequest& request, const SlurmAllocation& allocation) {
    const int cores = std::min(request.cores / request.nodes, std::ranges::max(allocation.node_cores));  // of a node
    const int tasks_of_node = request.nodes > 1 ? request.ranks / request.nodes : 1;
    // srun ends with this process. Cores are not bound, since oneDNN's and a trial's own threads share them.
    std::vector<std::string> argv = {"setpriv", "--pdeathsig", "KILL"};
    if (const std::vector<std::string> names = layout_variables(); !names.empty()) {
        argv.emplace_back("env");
        for (const std::string& name : names) argv.insert(argv.end(), {"-u", name});
    }
    argv.emplace_back("srun");
    argv.push_back("--nodes=" + std::to_string(request.nodes));
    argv.push_back("--ntasks=" + std::to_string(request.nodes * tasks_of_node));
    if (request.nodes > 1)
        for (const std::string& word : rank_step_options(tasks_of_node)) argv.push_back(word);
    argv.insert(argv.end(), {"--exact", "--cpu-bind=none", "--cpus-per-task=" + std::to_string(cores / tasks_of_node)});
    if (allocation.node_mib) {
        // As many steps as the largest node has cores for fit there; a smaller node then has memory to spare.
        const std::int64_t largest = std::ranges::max(allocation.node_cores);
        argv.push_back("--mem=" + std::to_string(std::max<std::int64_t>(1, *allocation.node_mib * cores / largest)));
    }
    // A step that asks for no card would hold all of the job's.
    argv.push_back(request.gpus > 0 ? "--gpus=" + std::to_string(request.gpus) : "--gres=none");
    if (request.gpus > 0 && request.nodes > 1)
        argv.push_back("--gpus-per-node=" + std::to_string(request.gpus / request.nodes));
    argv.insert(argv.end(), request.argv.begin(), request.argv.end());
    return argv;
}

int step_wait_status(int wait_status) {
    const int signal = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) - 128 : 0;
    return signal > 0 && signal <= SIGRTMAX ? W_EXITCODE(0, signal) : wait_status;
}

std::unique_ptr<Launcher> make_step_launcher(SlurmAllocation allocation) {
    return std::make_unique<StepLauncher>(std::move(allocation));
}

}  // namespace deft::sweeps
