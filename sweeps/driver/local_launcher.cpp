#include "sweeps/driver/local_launcher.h"

#include <algorithm>
#include <csignal>

#include "base/process.h"
#include "base/this_machine.h"
#include "sweeps/driver/ended_process.h"
#include "sweeps/driver/signals.h"
#include "sweeps/driver/trial_process.h"

namespace deft::sweeps {

namespace {

// A run is the process of its trial, which leads a group.
class LocalLauncher final : public Launcher {
 public:
    RunId start(const LaunchRequest& request) override {
        return running_.emplace_back(
            start_process(request.argv, request.folder / "log.txt", request.environment, kWatchedSignals));
    }

    std::vector<std::pair<RunId, RunStatus>> look() override {
        std::vector<std::pair<RunId, RunStatus>> seen;
        std::erase_if(running_, [&](pid_t pid) {
            RunStatus status;
            status.phase = RunPhase::running;
            status.host = host_name();
            const std::optional<EndedProcess> ended = take_ended_process(pid);
            if (ended) {
                status.phase = RunPhase::ended;
                status.wait_status = ended->wait_status;
                status.usage = ended->usage;
            }
            seen.emplace_back(pid, status);
            return ended.has_value();
        });
        return seen;
    }

    void ask_to_end(RunId run) override { ask_group_to_end(static_cast<pid_t>(run)); }
    void end(RunId run) override { ::kill(static_cast<pid_t>(-run), SIGKILL); }
    const char* name() const override { return "local"; }
    std::vector<std::string> command(const LaunchRequest& request) const override { return request.argv; }
    bool starts_children() const override { return true; }
    results_db::ProcessIdentity process_of(RunId run) const override { return identify(static_cast<pid_t>(run)); }

 private:
    std::vector<pid_t> running_;
};

}  // namespace

std::unique_ptr<Launcher> make_local_launcher() {
    return std::make_unique<LocalLauncher>();
}

}  // namespace deft::sweeps
