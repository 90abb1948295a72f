// Trials as steps of a Slurm job, by an srun and an scancel of a few shell lines that keep a step apart from srun.

#include "sweeps/driver/step_launcher.h"

#include <sys/wait.h>

#include <memory>
#include <string>
#include <vector>

#include "sweeps/driver/claim.h"
#include "sweeps/driver/run_folder.h"
#include "tests/sweeps/fake_trial.h"
#include "tests/sweeps/program.h"
#include "tests/with_variable.h"

using namespace deft;
using namespace deft::test;
using sweeps::LaunchRequest;
using sweeps::SlurmAllocation;

namespace {

// The step is a process of a session of its own, as on another machine: a signal to srun's group does not reach it.
// srun ends it on TERM, as Slurm's does, and gives 128 and the signal's number for a task that a signal ended.
constexpr const char* kSrun = R"sh(#!/bin/bash
here=$(dirname "$0")
[ "$1" = --version ] && { echo "slurm-wlm 22.05.8"; exit 0; }
echo "$*" >> "$here/srun.log"
env >> "$here/variables.log"
while [[ "$1" == -* ]]; do shift; done
# The first step meets what this file says.
if mv "$here/first" "$here/met" 2> /dev/null; then
    . "$here/met"
fi
[ -e "$here/busy" ] && { echo "srun: Requested nodes are busy" >&2; sleep 60; }
( export SLURM_STEP_ID=$BASHPID SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1; exec setsid "$@" ) &
step=$!
trap 'echo TERM >> "$here/signals.log"; kill -KILL $step' TERM INT
wait $step
code=$?
while kill -0 $step 2> /dev/null; do wait $step; code=$?; done
exit $code
)sh";
constexpr const char* kStepScancel = R"sh(#!/bin/bash
here=$(dirname "$0")
echo "$*" >> "$here/scancel.log"
[ -e "$here/down" ] && sleep 60
kill -KILL "${2##*.}"
)sh";

// In a job of two nodes with a core each.
class InJob {
 public:
    explicit InJob(const Folder& folder)
        : bin(folder.path / "bin"), path_("PATH", bin.string() + ":" + std::getenv("PATH")) {
        std::filesystem::create_directories(bin);
        for (const auto& [name, text] : {std::pair{"srun", kSrun}, {"scancel", kStepScancel}}) {
            write_file_atomically(bin / name, text);
            std::filesystem::permissions(bin / name, std::filesystem::perms::owner_all);
        }
    }

    std::string log(const std::string& name) const {
        return std::filesystem::exists(bin / name) ? read_file(bin / name) : "";
    }
    void touch(const std::string& name) const { write_file_atomically(bin / name, ""); }
    // In place of the first step, srun does this, in bash.
    void first_step(const std::string& lines) const { write_file_atomically(bin / "first", lines + "\n"); }

    std::filesystem::path bin;

 private:
    WithVariable path_, job_{"SLURM_JOB_ID", "7"}, cores_{"SLURM_JOB_CPUS_PER_NODE", "1(x2)"},
        memory_{"SLURM_MEM_PER_NODE", "1000"}, nodes_{"SLURM_JOB_NODELIST", "n[1-2]"};
};

// Its only run folder.
std::filesystem::path run_of(const TinySweep& sweep) {
    return std::filesystem::directory_iterator(sweep.root / "runs")->path();
}

const std::string kLong = "[[case]]\nname = \"plain\"\n" + long_budget(200'000);

}  // namespace

TEST_CASE("A step asks for its trial's cores, its share of a node's memory, and its cards") {
    const LaunchRequest launch = {"/runs/a", {"/bin/deft", "trial", "/runs/a"}, {}, 2, 0};
    using Words = std::vector<std::string>;
    const Words start = {"setpriv",   "--pdeathsig", "KILL",    "srun",
                         "--nodes=1", "--ntasks=1",  "--exact", "--cpu-bind=none"};
    const auto words = [&](const LaunchRequest& asked, const SlurmAllocation& allocation) {
        Words argv = sweeps::step_argv(asked, allocation);
        REQUIRE(argv.size() > start.size() + 3);
        CHECK(Words(argv.begin(), argv.begin() + static_cast<std::ptrdiff_t>(start.size())) == start);
        CHECK(Words(argv.end() - 3, argv.end()) == launch.argv);
        return Words(argv.begin() + static_cast<std::ptrdiff_t>(start.size()), argv.end() - 3);
    };
    CHECK(words(launch, {{4, 4}, 1000, 0}) == Words{"--cpus-per-task=2", "--mem=500", "--gres=none"});
    CHECK(words(launch, {{4, 4}, {}, 0}) == Words{"--cpus-per-task=2", "--gres=none"});
    CHECK(words(launch, {{8, 2}, 1000, 0}) == Words{"--cpus-per-task=2", "--mem=250", "--gres=none"});
    LaunchRequest wide = launch;
    wide.cores = 16;
    wide.gpus = 2;
    CHECK(words(wide, {{8, 2}, 1000, 4}) == Words{"--cpus-per-task=8", "--mem=1000", "--gpus=2"});
}

TEST_CASE("srun's exit code above 128 is the signal that ended the trial") {
    const auto status = [](int code) { return sweeps::step_wait_status(W_EXITCODE(code, 0)); };
    for (const int code : {0, 1, 75, 128, 233, 255}) {
        CHECK(WIFEXITED(status(code)));
        CHECK(WEXITSTATUS(status(code)) == code);
    }
    CHECK(WIFSIGNALED(status(137)));
    CHECK(WTERMSIG(status(137)) == SIGKILL);
    CHECK(WTERMSIG(status(139)) == SIGSEGV);
    CHECK(WTERMSIG(sweeps::step_wait_status(SIGKILL)) == SIGKILL);
}

TEST_CASE("Trials as steps measure the bits of trials on this machine") {
    const TinySweep local(kTwoRecipes, "[1, 2]"), stepped(kTwoRecipes, "[1, 2]");
    REQUIRE(local.run({"--launcher", "local"}).exit_code == 0);
    {
        const InJob job(stepped.folder);
        const Ran ran = stepped.run();
        REQUIRE(ran.exit_code == 0);
        CHECK_THAT(ran.err, ContainsSubstring("as steps of Slurm on 2 nodes"));
        CHECK(lines_of(job.log("srun.log")) == 8);  // four trainings and their scorings
        CHECK_THAT(job.log("srun.log"), ContainsSubstring("--cpus-per-task=1 --mem=1000 "));
        CHECK(job.log("signals.log").empty());
    }
    CHECK(local.measured().size() > 8);
    CHECK(stepped.measured() == local.measured());
    CHECK(stepped.value("SELECT count(*) FROM attempt WHERE state = 'ok' AND peak_rss_bytes > 0 AND cpu_seconds > 0") ==
          "8");
    // Each attempt has its step, its node and its time in the queue.
    const auto claim = sweeps::read_claim(run_of(stepped));
    REQUIRE(claim);
    CHECK(claim->job.starts_with("7."));
    REQUIRE(claim->machine);
    CHECK(claim->machine->hostname == claim->host);
    CHECK(stepped.value("SELECT count(DISTINCT job) FROM attempt WHERE launcher = 'steps' AND job LIKE '7.%' AND"
                        " nodes = 'n[1-2]' AND queue_seconds BETWEEN 0 AND 60") == "8");
    CHECK(local.value("SELECT count(*) FROM attempt WHERE launcher = 'local' AND job = '' AND queue_seconds IS NULL") ==
          "8");
    CHECK_THAT(stepped.value("SELECT argv_json FROM attempt"), ContainsSubstring("\"srun\""));
    CHECK_THAT(stepped.value("SELECT libraries_json FROM attempt"), ContainsSubstring("\"Slurm\":\"22.05.8\""));
    CHECK_THAT(stepped.deft("show", {"a/1", "--root", stepped.root.string()}).out,
               ContainsSubstring("Slurm job 7.") && ContainsSubstring("in the queue"));
}

TEST_CASE("Workers that are left to deft are as many as the nodes' cores allow") {
    const TinySweep sweep(kTwoRecipes);
    const InJob job(sweep.folder);
    CHECK_THAT(sweep.run({"--dry-run", "--slots", "auto", "--threads", "1"}).err,
               ContainsSubstring("2 workers of 1 thread"));
}

TEST_CASE("A stop of the driver reaches a step by its stop file, and no signal reaches srun") {
    const TinySweep sweep(kLong);
    const InJob job(sweep.folder);
    Process driver = sweep.start();
    const pid_t trial = sweep.freeze_trial();
    REQUIRE(trial > 0);
    driver.signal(SIGTERM);
    ::kill(trial, SIGCONT);
    CHECK(driver.wait() == kExitWorkLeft);
    CHECK(job.log("signals.log").empty());
    CHECK(job.log("scancel.log").empty());
    CHECK(sweep.count("preempted") == "1");
    // It goes on from the checkpoint that it saved.
    CHECK(sweep.run().exit_code == 0);
    CHECK(sweep.value("SELECT count(*) FROM attempt WHERE kind = 'train' AND resume_step > 0") == "1");
}

TEST_CASE("A step that does not stop in time is cancelled by its number, also where the controller does not answer") {
    const bool is_down = GENERATE(false, true);
    CAPTURE(is_down);
    const TinySweep sweep(kLong + "[case.checkpoint]\ngrace_seconds = 0.5\n");
    const InJob job(sweep.folder);
    if (is_down) job.touch("down");
    Process driver = sweep.start();
    const pid_t trial = sweep.freeze_trial();
    REQUIRE(trial > 0);
    driver.signal(SIGTERM);
    CHECK(driver.wait() == kExitWorkLeft);
    CHECK_THAT(job.log("scancel.log"), ContainsSubstring(fmt::format("--signal=KILL 7.{}\n", trial)));
    CHECK(sweep.count("preempted") == "1");
    CHECK(sweep.value("SELECT term_signal FROM attempt") == "9");
    if (is_down) ::kill(trial, SIGKILL);
}

TEST_CASE("A step that waits for its nodes has not hung, and is withdrawn where the driver ends") {
    const TinySweep sweep(kLong + "[case.checkpoint]\ngrace_seconds = 0.5\n");
    const InJob job(sweep.folder);
    job.touch("busy");
    Process driver = sweep.start();
    REQUIRE(wait_until([&] { return lines_of(job.log("srun.log")) == 1; }));
    driver.signal(SIGTERM);
    CHECK(driver.wait() == kExitWorkLeft);
    CHECK(job.log("scancel.log").empty());
    CHECK(sweep.processes().empty());
}

TEST_CASE("srun ends with a driver that is killed") {
    const TinySweep sweep(kLong);
    const InJob job(sweep.folder);
    Process driver = sweep.start();
    const pid_t trial = sweep.freeze_trial();
    REQUIRE(trial > 0);
    driver.signal(SIGKILL);
    CHECK(driver.wait() == -SIGKILL);
    CHECK(wait_until([&] {
        const auto left = sweep.processes();
        return std::ranges::all_of(left, [&](pid_t pid) { return pid == trial; });
    }));
    ::kill(trial, SIGKILL);
    // The attempt that was left is given an end, and the next one does the work.
    CHECK(sweep.run().exit_code == 0);
    CHECK(sweep.count("stale") == "1");
    CHECK(sweep.count("ok") == "1");
}

TEST_CASE("Ends of steps are classified as ends of processes are") {
    FakeSweep sweep({"ok-a", "nan", "killed", "config", "silent"});
    const InJob job(sweep.folder);
    sweep.options.launcher.steps_of = SlurmAllocation{{1, 1}, 1000, 0};
    sweep.run();
    const auto end = [&](std::size_t place) {
        const results_db::StoredTrial row = sweep.row(place);
        return row.state + " " + row.fail_class;
    };
    CHECK(end(0) == "ok ");
    CHECK(end(1) == "failed nan");
    CHECK(end(2) == "failed crash");
    CHECK(end(3) == "failed config");
    CHECK(end(4) == "failed crash");
}

TEST_CASE("A node that fails, a preemption and a time limit cost no try, and another step does the work") {
    const auto [words, fail_class] = GENERATE(table<std::string, std::string>(
        {{"echo 'srun: error: Node failure on n2' >&2; exit 0", "node"},
         {"echo 'srun: error: Task launch for StepId=7.1 failed on node n2: Communication connection failure' >&2; "
          "exit "
          "233",
          "node"},
         {"echo 'slurmstepd-n2: error: *** STEP 7.1 ON n2 CANCELLED AT now DUE TO PREEMPTION ***' >&2; exit 143",
          "preempt"},
         {"echo 'slurmstepd-n2: error: *** STEP 7.1 ON n2 CANCELLED AT now DUE TO TIME LIMIT ***' >&2; exit 143",
          "timeout"}}));
    CAPTURE(fail_class);
    const TinySweep sweep(kPlain);
    const InJob job(sweep.folder);
    job.first_step(words);
    const Ran ran = sweep.run();
    CHECK(ran.exit_code == 0);
    // A trial without a newer checkpoint would meet the time limit again.
    const bool costs_a_try = fail_class == "timeout";
    CHECK(sweep.says("retry") == costs_a_try);
    CHECK(sweep.says("stopped plain/1  (it will go on)") == !costs_a_try);
    CHECK(sweep.value("SELECT state || ' ' || fail_class FROM attempt WHERE number = 1") ==
          (costs_a_try ? "timeout " : "preempted ") + fail_class);
    CHECK_THAT(sweep.value("SELECT error FROM attempt WHERE number = 1"), ContainsSubstring(words.substr(6, 20)));
    CHECK(sweep.count("ok") == "1");
}

namespace {

constexpr const char* kAborted =
    "echo 'srun: Job step aborted: Waiting up to 32 seconds for job step to finish.' >&2\n";

}  // namespace

TEST_CASE("A step that ends without a reason costs no try, and the second of a row does") {
    const TinySweep sweep(kPlain);
    const InJob job(sweep.folder);
    const std::string abort = std::string(kAborted) + "exit 143";
    job.first_step("mv \"$here/next\" \"$here/first\"\n" + abort);
    write_file_atomically(job.bin / "next", abort + "\n");
    CHECK(sweep.run().exit_code == 0);
    CHECK(sweep.says("stopped plain/1  (it will go on)"));
    CHECK(sweep.says("retry   plain/1"));
    CHECK(sweep.query("SELECT state, fail_class FROM attempt WHERE kind = 'train' ORDER BY number", 2) ==
          std::vector<std::string>{"preempted other", "failed crash", "ok "});
    CHECK_THAT(sweep.value("SELECT error FROM attempt WHERE number = 1"),
               ContainsSubstring("Slurm does not say why: srun: Job step aborted"));
    CHECK_THAT(sweep.value("SELECT error FROM attempt WHERE number = 2"),
               ContainsSubstring("its last attempt ended so, too"));
}

TEST_CASE("A trial whose steps end without a reason again and again has failed") {
    const TinySweep sweep(kPlain);
    const InJob job(sweep.folder);
    job.first_step("cp \"$here/met\" \"$here/first\"\n" + std::string(kAborted) + "exit 143");
    CHECK(sweep.run().exit_code == kExitFailed);
    CHECK(sweep.query("SELECT state, fail_class FROM attempt ORDER BY number", 2) ==
          std::vector<std::string>{"preempted other", "failed crash", "failed crash"});
}

TEST_CASE("Steps that end without a reason after newer checkpoints cost no try") {
    const TinySweep local(kLong + "[case.checkpoint]\nevery_seconds = 0.1\n");
    const TinySweep sweep(kLong + "[case.checkpoint]\nevery_seconds = 0.1\n");
    const InJob job(sweep.folder);
    // Three steps end so, each once its trial has saved another checkpoint.
    job.first_step(
        "echo >> \"$here/ended\"; [ $(wc -l < \"$here/ended\") = 3 ] || cp \"$here/met\" \"$here/first\"\n"
        "saved() { find \"$here/../root/checkpoints\" -name checkpoint.json 2> /dev/null | sort | tail -n 1; }\n"
        "before=$(saved)\n"
        "(export SLURM_STEP_ID=$BASHPID SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1; exec setsid \"$@\") & step=$!\n"
        "while [ \"$(saved)\" = \"$before\" ] && kill -0 $step; do sleep 0.05; done; kill -KILL $step\n" +
        std::string(kAborted) + "exit 143");
    CHECK(sweep.run().exit_code == 0);
    CHECK_FALSE(sweep.says("retry "));
    CHECK(sweep.query("SELECT state, fail_class FROM attempt WHERE kind = 'train' ORDER BY number", 2) ==
          std::vector<std::string>{"preempted other", "preempted other", "preempted other", "ok "});
    REQUIRE(local.run({"--launcher", "local"}).exit_code == 0);
    CHECK(sweep.measured() == local.measured());
}

TEST_CASE("A sweep whose Slurm job is ending starts nothing more, and says so once") {
    const auto [end_time, fail_class] =
        GENERATE(table<std::string, std::string>({{"4000000000", "preempt"}, {"1000000000", "timeout"}}));
    const bool is_scored = GENERATE(false, true);
    CAPTURE(fail_class, is_scored);
    const TinySweep sweep(kTwoRecipes, "[1, 2, 3]");
    const InJob job(sweep.folder);
    const WithVariable end("SLURM_JOB_END_TIME", end_time.c_str());
    const std::string refused =
        "echo 'srun: error: Unable to create step for job 7: Job/step already completing or completed' >&2; exit 1";
    // The refused step is a training, or an evaluation of what was trained.
    if (is_scored)
        write_file_atomically(job.bin / "next", refused + "\n");
    else
        job.first_step(refused);
    if (is_scored) job.first_step("mv \"$here/next\" \"$here/first\"");
    const Ran ran = sweep.run();
    CHECK(ran.exit_code == kExitWorkLeft);
    const std::string said = "the Slurm job of this run is ending, and no trial starts any more";
    CHECK_THAT(ran.err, ContainsSubstring(said) && ContainsSubstring("6 left") && !ContainsSubstring("retry "));
    CHECK(ran.err.find(said) == ran.err.rfind(said));
    CHECK(lines_of(job.log("srun.log")) == (is_scored ? 2 : 1));
    CHECK(sweep.query("SELECT kind, state, fail_class FROM attempt WHERE state <> 'ok'", 3) ==
          std::vector<std::string>{(is_scored ? "score" : "train") + std::string(" preempted ") + fail_class});
    CHECK_THAT(sweep.value("SELECT error FROM attempt WHERE state <> 'ok'"),
               ContainsSubstring("Unable to create step for job 7"));
    CHECK(sweep.run().exit_code == 0);
    CHECK(sweep.count("ok") == "6");
}

TEST_CASE("Variables that state the layout of the job do not reach srun") {
    const TinySweep sweep(kPlain);
    const InJob job(sweep.folder);
    const std::vector<const char*> layout = {"SLURM_NTASKS_PER_NODE",
                                             "SLURM_NTASKS_PER_CORE",
                                             "SLURM_NTASKS_PER_SOCKET",
                                             "SLURM_NTASKS_PER_GPU",
                                             "SLURM_GPUS",
                                             "SLURM_GPUS_PER_NODE",
                                             "SLURM_GPUS_PER_TASK",
                                             "SLURM_GPUS_PER_SOCKET",
                                             "SLURM_CPUS_PER_TASK",
                                             "SLURM_CPUS_PER_GPU",
                                             "SLURM_MEM_PER_CPU",
                                             "SLURM_MEM_PER_GPU",
                                             "SLURM_DISTRIBUTION",
                                             "SLURM_EXCLUSIVE",
                                             "SLURM_THREAD_SPEC",
                                             "SLURM_GRES",
                                             "SLURM_NTASKS",
                                             "SLURM_OVERCOMMIT",
                                             "SLURM_HINT"};
    std::vector<std::unique_ptr<WithVariable>> set;
    for (const char* name : layout) set.push_back(std::make_unique<WithVariable>(name, "1"));
    set.push_back(std::make_unique<WithVariable>("SLURM_MPI_TYPE", "pmix"));
    REQUIRE(sweep.run().exit_code == 0);
    const std::string reached = "\n" + job.log("variables.log");
    for (const char* name : layout) CHECK_THAT(reached, !ContainsSubstring(fmt::format("\n{}=", name)));
    // The node's memory is a word of the command, and the job's number and the user's own options stay.
    CHECK_THAT(reached, !ContainsSubstring("\nSLURM_MEM_PER_NODE=") && ContainsSubstring("\nSLURM_JOB_ID=7\n") &&
                            ContainsSubstring("\nSLURM_JOB_NODELIST=n[1-2]\n") &&
                            ContainsSubstring("\nSLURM_MPI_TYPE=pmix\n"));
    CHECK_THAT(job.log("srun.log"), ContainsSubstring("--mem=1000 --gres=none "));
}

TEST_CASE("A step that lacks memory fails for that") {
    const TinySweep sweep(kPlain);
    const InJob job(sweep.folder);
    job.first_step("echo 'slurmstepd-n2: error: Detected 1 oom_kill event in StepId=7.1.' >&2; exit 137");
    CHECK(sweep.run().exit_code == kExitFailed);
    CHECK(sweep.value("SELECT state || ' ' || fail_class FROM attempt") == "failed oom_host");
}

TEST_CASE("A step whose end srun does not learn of ends with its journal", "[slow]") {
    const TinySweep sweep(kPlain);
    const InJob job(sweep.folder);
    job.first_step("(export SLURM_STEP_ID=$$ SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1; exec setsid \"$@\"); sleep 600");
    const Ran ran = sweep.run();
    CHECK(ran.exit_code == 0);
    CHECK_THAT(ran.err, ContainsSubstring("its journal ended, and the batch system has not reported its end"));
    CHECK(sweep.attempts().size() == 1);
    CHECK(sweep.count("ok") == "1");
}

TEST_CASE("A step that somebody cancels is held until the next run") {
    const TinySweep sweep(kTwoRecipes);
    const InJob job(sweep.folder);
    job.first_step("echo 'slurmstepd-n2: error: *** STEP 7.1 ON n2 CANCELLED AT now ***' >&2; exit 137");
    const Ran ran = sweep.run();
    CHECK(ran.exit_code == kExitWorkLeft);
    CHECK_THAT(ran.err, ContainsSubstring("held ") && ContainsSubstring("somebody cancelled it") &&
                            ContainsSubstring("1 ok, 1 left"));
    CHECK(sweep.value("SELECT state || ' ' || fail_class FROM attempt WHERE id = 1") == "cancelled user");
    CHECK(sweep.run().exit_code == 0);
    CHECK(sweep.count("ok") == "2");
}

TEST_CASE("A database that is lost has the place of each attempt again from its folder") {
    const TinySweep sweep(kPlain);
    const InJob job(sweep.folder);
    REQUIRE(sweep.run().exit_code == 0);
    const char* const kPlaces =
        "SELECT launcher, job, nodes, queue_seconds, argv_json FROM attempt ORDER BY created_ms";
    const std::vector<std::string> before = sweep.query(kPlaces, 5);
    for (const char* end : {"", "-wal", "-shm"})
        std::filesystem::remove(sweep.root / ("results.db" + std::string(end)));
    REQUIRE(sweep.run().exit_code == 0);
    CHECK(sweep.query(kPlaces, 5) == before);
}

TEST_CASE("Other processes than its driver may start a trial that a batch system shall start") {
    const TinySweep sweep(kPlain);
    const InJob job(sweep.folder);
    REQUIRE(sweep.run().exit_code == 0);
    const std::filesystem::path run = run_of(sweep);
    CHECK(sweeps::read_trial_file(run).driver_pid == 0);
    // The folder is claimed, so a job that Slurm starts twice does the work once.
    CHECK_THAT(sweep.deft("trial", {run.string()}).err, ContainsSubstring("has begun this attempt"));
}
