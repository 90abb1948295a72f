#pragma once
// A real Slurm of a login host and two nodes on this machine, and a tiny sweep that runs inside its jobs.

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/process.h"
#include "base/text.h"
#include "sweeps/driver/claim.h"
#include "tests/sweeps/program.h"

namespace deft::test {

// Started by scripts outside the repository: start.sh HOME, HOME/on HOST COMMAND, host.sh HOME off|boot|unplug|plug
// NODE and stop.sh HOME --clean. All hosts see the folders of this machine.
class RealSlurm {
 public:
    explicit RealSlurm(bool has_accounting = false) {
        const char* const given = std::getenv("DEFT_SLURM_SCRIPTS");
        scripts_ = given != nullptr ? std::filesystem::path(given)
                                    : std::filesystem::path(DEFT_SOURCE_DIR).parent_path() / "shared" / "slurm";
        if (!std::filesystem::exists(scripts_ / "start.sh")) {
            problem = "no scripts that start a Slurm (set DEFT_SLURM_SCRIPTS to their folder)";
            return;
        }
        std::vector<std::string> start = {"start.sh", home().string()};
        if (!has_accounting) start.emplace_back("--no-accounting");
        const Ran started = ran(start);
        is_started_ = started.exit_code == 0;
        if (started.exit_code == 77) problem = "Slurm cannot start here: " + first_line(started.err);
        UNSCOPED_INFO(fmt::format("start.sh gave {}: {}", started.exit_code, started.err));
        if (problem.empty()) REQUIRE(is_started_);
    }
    ~RealSlurm() {
        if (is_started_) ran({"stop.sh", home().string(), "--clean"});
    }
    RealSlurm(const RealSlurm&) = delete;
    RealSlurm& operator=(const RealSlurm&) = delete;

    // The command that runs these words on a host.
    std::vector<std::string> on(const std::string& host, const std::vector<std::string>& words) const {
        std::vector<std::string> argv = {(home() / "on").string(), host};
        argv.insert(argv.end(), words.begin(), words.end());
        return argv;
    }
    std::vector<std::string> on_login(const std::vector<std::string>& words) const { return on("login", words); }
    std::filesystem::path home() const { return folder_.path / "slurm"; }
    // off: a power failure. boot: its end. unplug, plug: the node's network.
    void host(const std::string& verb, const std::string& node) const {
        CAPTURE(verb, node);
        CHECK(ran({"host.sh", home().string(), verb, node}).exit_code == 0);
    }
    // False where the step has ended.
    bool scancel(const std::string& step) const {
        return run_process(on_login({"scancel", step}), std::chrono::seconds(60)).exit_code == 0;
    }
    // Whether Slurm has noticed that the node does not answer.
    bool is_down(const std::string& node) const {
        const std::string state =
            run_process(on_login({"sinfo", "--noheader", "-n", node, "-o", "%t"}), std::chrono::seconds(60)).out;
        return state.starts_with("down");
    }

    std::string problem;  // why no Slurm runs; empty: one runs

 private:
    Ran ran(std::vector<std::string> words) const {
        words.front() = (scripts_ / words.front()).string();
        Process process(words, folder_.path / "out", folder_.path / "err");
        const int code = process.wait();
        return {code, read_file(folder_.path / "out"), read_file(folder_.path / "err")};
    }

    Folder folder_;
    std::filesystem::path scripts_;
    bool is_started_ = false;
};

// A recipe of that many tokens, which saves checkpoints on the way.
inline std::string saving_recipe(std::int64_t tokens) {
    return "[defaults.checkpoint]\nevery_seconds = 0.2\n" + kPlain + long_budget(tokens);
}

// The bits of a run on this machine.
inline std::vector<std::string> local_bits(const std::string& recipes, const std::string& seeds,
                                           const std::vector<std::string>& shape = {"--slots", "cpu:2"}) {
    const TinySweep local(recipes, seeds);
    std::vector<std::string> options = {"--launcher", "local", "--threads", "1"};
    options.insert(options.end(), shape.begin(), shape.end());
    REQUIRE(local.run(options).exit_code == 0);
    return local.measured();
}

// Whether a training has saved a checkpoint.
inline bool has_checkpoint(const TinySweep& sweep) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(sweep.root / "checkpoints", ignored))
        if (entry.path().filename() == "checkpoint.json") return true;
    return false;
}

// A training attempt that runs as a step.
struct RunningStep {
    std::string job;  // "7.1"
    std::string host;
};

// Trainings that have taken some steps and have not ended.
inline std::vector<RunningStep> running_trainings(const TinySweep& sweep) {
    std::vector<RunningStep> found;
    for (const std::filesystem::path& journal : sweep.journals()) {
        const std::string text = read_file(journal);
        if (text.find("\"ended\"") != std::string::npos || text.find("\"train\"") == std::string::npos) continue;
        if (std::filesystem::exists(journal.parent_path() / "outcome.json")) continue;
        const auto claim = sweeps::read_claim(journal.parent_path());
        if (claim && !claim->host.empty()) found.push_back({claim->job, claim->host});
    }
    return found;
}

// Every attempt and its end, a line each.
inline std::string all_ends(const TinySweep& sweep) {
    std::string text;
    for (const std::string& line : sweep.query(
             "SELECT id, experiment_id, number, kind, state, fail_class, nodes, error FROM attempt ORDER BY id", 8))
        text += line + "\n";
    return text;
}

// The process of `deft run`, by its number outside the hosts; -1 where there is none.
inline pid_t driver_of(const TinySweep& sweep) {
    for (const pid_t pid : sweep.processes()) {
        std::ifstream in(fmt::format("/proc/{}/cmdline", pid), std::ios::binary);
        const std::string line{std::istreambuf_iterator<char>(in), {}};
        if (line.starts_with(std::string(DEFT_PROGRAM) + '\0' + "run" + '\0')) return pid;
    }
    return -1;
}

// Trainings that are stopped where they are until this goes out of scope, by their processes' numbers outside the
// hosts. A busy machine may be slow to strike them, and a training that ended meanwhile would be no target.
class FrozenTrainings {
 public:
    // Waits until the trainings that run are as wanted. `wanted` sees them stopped.
    FrozenTrainings(const TinySweep& sweep, const Process& run,
                    const std::function<bool(const std::vector<RunningStep>&)>& wanted) {
        wait_until([&] {
            if (!wanted(running_trainings(sweep))) return sweeps::has_ended(run.pid());
            freeze(sweep);
            steps = running_trainings(sweep);
            is_complete = wanted(steps);
            if (!is_complete) thaw();
            return is_complete || sweeps::has_ended(run.pid());
        });
        if (!is_complete) UNSCOPED_INFO(read_file(sweep.err()));
    }
    ~FrozenTrainings() { thaw(); }
    FrozenTrainings(const FrozenTrainings&) = delete;
    FrozenTrainings& operator=(const FrozenTrainings&) = delete;

    void thaw() {
        for (const pid_t pid : pids_) ::kill(pid, SIGCONT);
        pids_.clear();
    }

    bool is_complete = false;  // false: the run ended before
    std::vector<RunningStep> steps;

 private:
    void freeze(const TinySweep& sweep) {
        for (const pid_t pid : sweep.processes()) {
            std::ifstream in(fmt::format("/proc/{}/cmdline", pid), std::ios::binary);
            const std::string line{std::istreambuf_iterator<char>(in), {}};
            if (line.starts_with(std::string(DEFT_PROGRAM) + '\0' + "trial" + '\0') && ::kill(pid, SIGSTOP) == 0)
                pids_.push_back(pid);
        }
    }

    std::vector<pid_t> pids_;
};

// Runs of a sweep in jobs of both nodes.
class SweepInJobs {
 public:
    SweepInJobs(const RealSlurm& slurm, const std::string& recipes, const std::string& seeds, int cores)
        : sweep(recipes, seeds), slurm_(slurm), cores_(cores) {}

    // The job outlives a node that fails. salloc gives 0 where a signal ends its command, and what the shell gives
    // else.
    std::vector<std::string> command() const {
        std::vector<std::string> words = {"salloc", "--quiet", "--no-kill", "--mem=2000", fmt::format("-c{}", cores_)};
        words.insert(words.end(), allocation.begin(), allocation.end());
        words.insert(words.end(), {"bash", "-c", "\"$@\"; exit $?", "bash", "env"});
        words.insert(words.end(), variables.begin(), variables.end());
        const std::vector<std::string> run =
            sweep.command("run", {"--slots", "auto", "--threads", "1", "--progress", "plain"});
        words.insert(words.end(), run.begin(), run.end());
        words.insert(words.end(), options.begin(), options.end());
        return slurm_.on_login(words);
    }
    Process start() const { return {command(), sweep.out(), sweep.err()}; }
    int run() const {
        Process process = start();
        const int code = process.wait();
        UNSCOPED_INFO(fmt::format("salloc deft run gave {}\n{}", code, read_file(sweep.err())));
        return code;
    }

    std::vector<RunningStep> training() const { return running_trainings(sweep); }
    // Waits for trainings on both nodes, and stops them there.
    FrozenTrainings frozen_on_both(const Process& run) const {
        return {sweep, run, [](const std::vector<RunningStep>& steps) {
                    const auto is_on = [&](const char* node) {
                        return std::ranges::find(steps, node, &RunningStep::host) != steps.end();
                    };
                    return is_on("n1") && is_on("n2");
                }};
    }

    pid_t driver() const { return driver_of(sweep); }

    // Every end of training attempts as "state class count".
    std::vector<std::string> ends() const {
        UNSCOPED_INFO(all_ends(sweep));
        return sweep.query("SELECT state, fail_class, count(*) FROM attempt WHERE kind = 'train' GROUP BY 1, 2", 3);
    }
    std::string trained_twice() const {
        return sweep.value(
            "SELECT count(*) FROM (SELECT experiment_id FROM attempt WHERE kind = 'train' AND state = 'ok'"
            " GROUP BY experiment_id HAVING count(*) > 1)");
    }

    TinySweep sweep;
    std::vector<std::string> options = {};                 // more of `deft run`
    std::vector<std::string> allocation = {"-N2", "-n2"};  // of salloc
    std::vector<std::string> variables = {};               // "NAME=value" within the job

 private:
    const RealSlurm& slurm_;
    int cores_;
};

// `deft run --launcher slurm` on the login host.
class QueuedSweep {
 public:
    QueuedSweep(const RealSlurm& slurm, const std::string& recipes, const std::string& seeds)
        : sweep(recipes, seeds), slurm_(slurm) {}

    Process start(const std::string& slots = "cpu:4", const std::string& more = "") const {
        std::vector<std::string> words = {"env"};
        words.insert(words.end(), variables.begin(), variables.end());
        const std::vector<std::string> run =
            sweep.command("run", {"--launcher", "slurm", "--slurm", "mem=200,time=10" + more, "--slots", slots,
                                  "--threads", "1", "--progress", "plain"});
        words.insert(words.end(), run.begin(), run.end());
        return {slurm_.on_login(words), sweep.out(), sweep.err()};
    }
    int run(const std::string& slots = "cpu:4", const std::string& more = "") const {
        Process process = start(slots, more);
        const int code = process.wait();
        UNSCOPED_INFO(fmt::format("deft run gave {}\n{}", code, read_file(sweep.err())));
        return code;
    }

    // Waits until as many trainings run, and stops them there.
    FrozenTrainings frozen(const Process& run, std::size_t count) const {
        return {sweep, run, [count](const std::vector<RunningStep>& steps) { return steps.size() >= count; }};
    }
    pid_t driver() const { return driver_of(sweep); }

    TinySweep sweep;
    std::vector<std::string> variables = {};  // "NAME=value" of `deft run`

 private:
    const RealSlurm& slurm_;
};

// From the environment, for longer searches for faults.
inline std::size_t number_of(const char* variable, std::size_t usual) {
    const char* const text = std::getenv(variable);
    return text == nullptr ? usual : std::strtoul(text, nullptr, 10);
}

}  // namespace deft::test
