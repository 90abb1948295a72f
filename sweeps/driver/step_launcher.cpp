#include "sweeps/driver/step_launcher.h"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/error.h"
#include "base/process.h"
#include "base/stopwatch.h"
#include "sweeps/driver/claim.h"
#include "sweeps/driver/ended_process.h"
#include "sweeps/driver/step_log.h"
#include "sweeps/driver/stop_file.h"
#include "sweeps/driver/trial_process.h"

namespace deft::sweeps {

namespace {

namespace fs = std::filesystem;

constexpr const char* kLog = "log.txt";
constexpr double kCancelSeconds = 15;  // for which srun may outlive the step that scancel ends

struct Step {
    pid_t srun = -1;
    fs::path folder;
    std::string host;  // empty until the trial has claimed its folder
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
        const pid_t srun = start_process(command(request), request.folder / kLog, request.environment);
        steps_.push_back({srun, request.folder, "", {}});
        return srun;
    }

    std::vector<std::pair<RunId, RunStatus>> look() override {
        reap_helpers();
        std::vector<std::pair<RunId, RunStatus>> seen;
        std::erase_if(steps_, [&](Step& step) {
            if (step.cancelled && seconds_since(*step.cancelled) > kCancelSeconds) ::kill(-step.srun, SIGKILL);
            if (step.host.empty())
                if (const std::optional<Claim> claim = read_claim(step.folder)) step.host = claim->host;
            RunStatus status;
            status.phase = step.host.empty() ? RunPhase::waiting : RunPhase::running;
            status.host = step.host;
            if (step.host.empty()) status.reason = "Slurm has not started its step";
            const std::optional<EndedProcess> ended = take_ended_process(step.srun);
            if (ended) {
                status.phase = RunPhase::ended;
                status.wait_status = step_wait_status(ended->wait_status);
                const StepWords words = step_words(step.folder / kLog);
                status.batch_end = words.end;
                status.batch_words = words.line;
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

    void reap_helpers() {
        std::erase_if(helpers_, [](pid_t helper) { return take_ended_process(helper).has_value(); });
    }

    SlurmAllocation allocation_;
    std::vector<Step> steps_;
    std::vector<pid_t> helpers_;  // running scancel commands
};

}  // namespace

std::string program_on_nodes(const std::string& program) {
    std::error_code error;
    const fs::path target = fs::canonical(program, error);
    if (!error) return target.string();
    throw Error(ErrorKind::io, "the program's file was replaced since it was started", "start it again");
}

std::vector<std::string> step_argv(const LaunchRequest& request, const SlurmAllocation& allocation) {
    const int cores = std::min(request.cores, std::ranges::max(allocation.node_cores));
    // srun ends with this process. Cores are not bound, since oneDNN's and a trial's own threads share them.
    std::vector<std::string> argv = {"setpriv", "--pdeathsig",     "KILL",
                                     "srun",    "--nodes=1",       "--ntasks=1",
                                     "--exact", "--cpu-bind=none", "--cpus-per-task=" + std::to_string(cores)};
    if (allocation.node_mib) {
        const std::int64_t smallest = std::ranges::min(allocation.node_cores);
        argv.push_back("--mem=" + std::to_string(std::max<std::int64_t>(
                                      1, *allocation.node_mib * std::min<std::int64_t>(cores, smallest) / smallest)));
    }
    if (request.gpus > 0) argv.push_back("--gpus=" + std::to_string(request.gpus));
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
