// Trials as Slurm jobs, by an sbatch, squeue, sacct and scancel of a few shell lines.

#include "sweeps/driver/slurm_launcher.h"

#include <csignal>

#include "base/process.h"
#include "sweeps/driver/batch_job.h"
#include "sweeps/driver/claim.h"
#include "tests/sweeps/fake_trial.h"
#include "tests/sweeps/program.h"
#include "tests/with_variable.h"

using namespace deft;
using namespace deft::test;

namespace {

// A job is a session of its own. The queue has a file for each, named by its number. The first submission meets what
// the file `first` says.
constexpr const char* kSbatch = R"sh(#!/bin/bash
here=$(dirname "$0")
[ "$1" = --version ] && { echo "slurm 24.05.1"; exit 0; }
echo "$*" >> "$here/sbatch.log"
env | grep -c '^SLURM_\|^SBATCH_' >> "$here/variables.log"
for word in "$@"; do case "$word" in --job-name=*) name=${word#*=} ;; esac; done
while [[ "$1" == -* ]]; do shift; done
number=$((100 + $(ls "$here/numbers" | wc -l)))
touch "$here/numbers/$number"
state=RUNNING; reason=None; begins=true; says=$number
if mv "$here/first" "$here/met" 2> /dev/null; then . "$here/met"; fi
echo "$number|$name|$state|$reason|n1" > "$here/queue/$number"
if $begins; then
    ( exec > /dev/null 2>&1 < /dev/null
      export SLURM_JOB_ID=$number SLURM_JOB_NODELIST=n1
      setsid /bin/sh "$@" &
      echo $! > "$here/numbers/$number"
      wait $!
      rm -f "$here/queue/$number" ) > /dev/null 2>&1 &
fi
echo "$says"
)sh";
constexpr const char* kSqueue = R"sh(#!/bin/bash
here=$(dirname "$0")
[ -e "$here/hang" ] && sleep 60
[ -e "$here/down" ] && { echo "slurm_load_jobs error: Unable to contact slurm controller" >&2; exit 1; }
[ -e "$here/torn" ] && { echo "100|de"; exit 0; }
cat "$here"/queue/* 2> /dev/null
exit 0
)sh";
constexpr const char* kSacct = R"sh(#!/bin/bash
here=$(dirname "$0")
[ -e "$here/sacct.txt" ] || { echo "Slurm accounting storage is disabled" >&2; exit 1; }
cat "$here/sacct.txt"
)sh";
constexpr const char* kScancel = R"sh(#!/bin/bash
here=$(dirname "$0")
echo "$*" >> "$here/scancel.log"
for file in "$here"/queue/*; do
    number=$(basename "$file")
    [[ "$(cat "$file")" == *"|${1#--name=}|"* ]] || continue
    rm -f "$file"
    pid=$(cat "$here/numbers/$number")
    [ -n "$pid" ] && pkill -KILL -s "$pid"
done
exit 0
)sh";

class Cluster {
 public:
    explicit Cluster(const Folder& folder)
        : bin(folder.path / "bin"), path_("PATH", bin.string() + ":" + std::getenv("PATH")) {
        for (const char* name : {"queue", "numbers"}) std::filesystem::create_directories(bin / name);
        for (const auto& [name, text] :
             {std::pair{"sbatch", kSbatch}, {"squeue", kSqueue}, {"sacct", kSacct}, {"scancel", kScancel}}) {
            write_file_atomically(bin / name, text);
            std::filesystem::permissions(bin / name, std::filesystem::perms::owner_all);
        }
    }

    // A test that ends early leaves no job.
    ~Cluster() {
        for (const auto& number : std::filesystem::directory_iterator(bin / "numbers"))
            if (const int leader = std::atoi(read_file(number.path()).c_str()); leader > 1)
                run_process({"pkill", "-KILL", "-s", std::to_string(leader)});
    }
    Cluster(const Cluster&) = delete;
    Cluster& operator=(const Cluster&) = delete;

    std::string log(const std::string& name) const {
        return std::filesystem::exists(bin / name) ? read_file(bin / name) : "";
    }
    void write(const std::string& name, const std::string& text) const { write_file_atomically(bin / name, text); }
    void remove(const std::string& name) const { std::filesystem::remove(bin / name); }

    std::filesystem::path bin;

 private:
    WithVariable path_;
};

const std::vector<std::string> kJobs = {"--launcher", "slurm"};
// A launcher that asks often and does not wait long, and an attempt of a fake trial.
class OneJob {
 public:
    // `answer`: seconds for each of Slurm's commands, enough on a busy machine where none hangs.
    explicit OneJob(const std::string& script, double answer = 30) : cluster(folder) {
        run = folder.path / "root" / "runs" / "abc.1";
        std::filesystem::create_directories(run);
        folder.write("trial", "#!/bin/bash\n[ \"$1\" = job ] && exec " DEFT_PROGRAM " \"$@\"\n" + script);
        std::filesystem::permissions(folder.path / "trial", std::filesystem::perms::owner_all);
        sweeps::SlurmPatience patience;
        patience.submit = patience.question = answer;
        patience.between = 0.05;
        patience.agreement = 0.5;
        patience.lost = 1;
        patience.again = 0.5;
        launcher = sweeps::make_slurm_launcher({}, patience);
    }

    sweeps::RunId start() {
        return launcher->start({run, {(folder.path / "trial").string(), "trial", run.string()}, {}});
    }

    // The status once the condition holds, or after ten seconds.
    sweeps::RunStatus look_until(const std::function<bool(const sweeps::RunStatus&)>& condition) const {
        sweeps::RunStatus last;
        for (int i = 0; i < 200; ++i) {
            for (const auto& [id, status] : launcher->look()) last = status;
            if (condition(last)) return last;
            ::usleep(50'000);
        }
        FAIL_CHECK("the launcher does not see that");
        return last;
    }
    sweeps::RunStatus look_until_ended() const {
        return look_until([](const auto& status) { return status.phase == sweeps::RunPhase::ended; });
    }
    sweeps::RunPhase phase_after_a_while() const {
        ::usleep(300'000);
        sweeps::RunPhase phase = sweeps::RunPhase::ended;
        for (const auto& [id, status] : launcher->look()) phase = status.phase;
        return phase;
    }

    Folder folder;
    Cluster cluster;
    std::filesystem::path run;
    std::unique_ptr<sweeps::Launcher> launcher;
};

constexpr const char* kForever = "while :; do sleep 0.1; done\n";

}  // namespace

TEST_CASE("Trials as jobs measure the bits of trials on this machine, and each attempt has its job") {
    const TinySweep local(kTwoRecipes), queued(kTwoRecipes);
    REQUIRE(local.run({"--launcher", "local"}).exit_code == 0);
    const Cluster cluster(queued.folder);
    const WithVariable outer("SLURM_MEM_PER_CPU", "77"), option("SBATCH_PARTITION", "other");
    const Ran ran = queued.run({"--launcher", "slurm", "--slurm", "partition=gpu,time=04:00:00"});
    REQUIRE(ran.exit_code == 0);
    CHECK_THAT(ran.err, ContainsSubstring("as Slurm jobs"));
    CHECK(queued.measured() == local.measured());
    CHECK(lines_of(cluster.log("sbatch.log")) == 4);  // two trainings and their scorings
    CHECK_THAT(
        cluster.log("sbatch.log"),
        ContainsSubstring("--parsable --no-requeue --open-mode=append --job-name=deft-") &&
            ContainsSubstring("--dependency=singleton --signal=B:TERM@180 --nodes=1 --ntasks=1 --cpus-per-task=1") &&
            ContainsSubstring("--partition=gpu --time=04:00:00"));
    CHECK(cluster.log("variables.log") == "0\n0\n0\n0\n");  // of an outer job
    CHECK(queued.value("SELECT count(DISTINCT job) FROM attempt WHERE launcher = 'slurm' AND nodes = 'n1' AND job"
                       " BETWEEN '100' AND '103' AND queue_seconds BETWEEN 0 AND 60") == "4");
    CHECK_THAT(queued.value("SELECT argv_json FROM attempt"), ContainsSubstring("\"sbatch\""));
    // A report repeats the sweep wherever its reader is.
    CHECK_THAT(queued.value("SELECT command FROM sweep"), !ContainsSubstring("slurm"));
    const Ran without = queued.run({"--slurm", "partition=gpu"});
    CHECK(without.exit_code == kExitUsage);
    CHECK_THAT(without.err,
               ContainsSubstring("--launcher auto makes none") && ContainsSubstring("add --launcher slurm"));
}

TEST_CASE("A stop of the driver makes jobs save a checkpoint and end, and withdraws those that wait") {
    const TinySweep sweep("[[case]]\nname = \"plain\"\n" + long_budget(2'000'000) + "[[case]]\nname = \"other\"\n");
    const Cluster cluster(sweep.folder);
    // One job waits; the other trains.
    cluster.write("first", "state=PENDING; reason=Priority; begins=false\n");
    Process driver = sweep.start({"--launcher", "slurm", "--slots", "cpu:2"});
    const pid_t trial = sweep.freeze_trial();
    REQUIRE(trial > 0);
    driver.signal(SIGTERM);
    ::kill(trial, SIGCONT);
    CHECK(driver.wait() == kExitWorkLeft);
    CHECK_THAT(cluster.log("scancel.log"), ContainsSubstring("--name=deft-"));
    CHECK(sweep.value("SELECT count(*) FROM attempt WHERE state = 'cancelled' AND fail_class = 'user'") == "2");
    CHECK(sweep.value("SELECT count(*) FROM attempt WHERE job = '' AND held_seconds < 1 AND queue_seconds > 0") == "1");
    CHECK(sweep.value("SELECT count(*) FROM attempt WHERE state IN ('leased', 'running')") == "0");
    CHECK(sweep.run(kJobs).exit_code == 0);
    CHECK(sweep.count("ok") == "2");
}

TEST_CASE("A job that Slurm refuses ends the run with Slurm's words, and one that it never starts is held") {
    const TinySweep sweep(kTwoRecipes);
    const Cluster cluster(sweep.folder);
    cluster.write("first", "echo 'sbatch: error: invalid partition specified: gup' >&2; exit 1\n");
    const Ran refused = sweep.run(kJobs);
    CHECK(refused.exit_code == kExitUsage);
    CHECK_THAT(refused.err, ContainsSubstring("invalid partition specified: gup") && ContainsSubstring("sinfo"));
    cluster.write("first", "state=PENDING; reason=PartitionTimeLimit; begins=false\n");
    const Ran held = sweep.run(kJobs);
    CHECK(held.exit_code == kExitWorkLeft);
    CHECK_THAT(held.err, ContainsSubstring("Slurm never starts such a job: PartitionTimeLimit") &&
                             ContainsSubstring("1 ok, 1 left"));
    CHECK(sweep.run(kJobs).exit_code == 0);
}

TEST_CASE("A job's end comes from its file, whatever the queue says") {
    const std::string queue = GENERATE("fine", "down", "torn", "hang");
    OneJob one("exit 3\n", queue == "hang" ? 2 : 30);
    CAPTURE(queue);
    one.start();
    one.cluster.write(queue, "");
    const sweeps::RunStatus status = one.look_until_ended();
    CHECK(WEXITSTATUS(status.wait_status) == 3);
    CHECK(status.batch_end == sweeps::BatchEnd::none);
}

TEST_CASE("A queue that does not answer, or not wholly, ends nothing") {
    OneJob one(kForever);
    one.start();
    one.look_until([](const auto& status) { return status.phase != sweeps::RunPhase::unknown; });
    for (const char* trouble : {"down", "torn"}) {
        CAPTURE(trouble);
        one.cluster.write(trouble, "");
        for (int i = 0; i < 3; ++i) CHECK(one.phase_after_a_while() == sweeps::RunPhase::unknown);
        one.cluster.remove(trouble);
        CHECK(one.phase_after_a_while() == sweeps::RunPhase::waiting);
    }
    one.launcher->end(1);
    CHECK(one.look_until_ended().batch_end == sweeps::BatchEnd::cancellation);
}

TEST_CASE("A job that left the queue without a word ends as accounting says, or once nobody knows it") {
    const auto [accounting, end] = GENERATE(
        table<std::string, sweeps::BatchEnd>({{"100|NAME|TIMEOUT\n", sweeps::BatchEnd::time_limit},
                                              {"100|NAME|OUT_OF_MEMORY\n", sweeps::BatchEnd::out_of_memory},
                                              {"100|NAME|NODE_FAIL\n", sweeps::BatchEnd::node_failure},
                                              {"100|NAME|PREEMPTED\n", sweeps::BatchEnd::preemption},
                                              {"100|NAME|CANCELLED by 0\n", sweeps::BatchEnd::cancellation},
                                              {"100|another job of that number|TIMEOUT\n", sweeps::BatchEnd::loss},
                                              {"100|NAME\n", sweeps::BatchEnd::loss},
                                              {"100|NAME|FAILED\n", sweeps::BatchEnd::loss},
                                              {"", sweeps::BatchEnd::loss}}));
    CAPTURE(accounting);
    OneJob one(kForever);
    one.cluster.write("first", "begins=false\n");
    one.start();
    one.look_until([](const auto& status) { return status.phase == sweeps::RunPhase::waiting; });
    std::string name = read_file(one.cluster.bin / "queue" / "100");
    name = name.substr(4, name.find('|', 4) - 4);
    std::string text = accounting;
    if (const std::size_t at = text.find("NAME"); at != std::string::npos) text.replace(at, 4, name);
    one.cluster.write("sacct.txt", text);
    one.cluster.remove("queue/100");
    CHECK(one.look_until_ended().batch_end == end);
}

TEST_CASE("A queue that hangs ends nothing") {
    OneJob one(kForever, 3);
    const sweeps::RunId id = one.start();
    one.cluster.write("hang", "");
    for (int i = 0; i < 2; ++i) CHECK(one.phase_after_a_while() == sweeps::RunPhase::unknown);
    one.cluster.remove("hang");
    one.launcher->end(id);
    CHECK(one.look_until_ended().batch_end == sweeps::BatchEnd::cancellation);
}

TEST_CASE("A submission that the controller accepted without an answer is not repeated") {
    OneJob one("sleep 1\nexit 0\n", 5);
    one.cluster.write("first", "says=''; trap 'sleep 30' EXIT\n");
    one.start();
    CHECK(WEXITSTATUS(one.look_until_ended().wait_status) == 0);
    CHECK(lines_of(one.cluster.log("sbatch.log")) == 1);
}

TEST_CASE("A submission to a controller that is down is repeated") {
    OneJob one("exit 0\n");
    one.cluster.write(
        "first", "echo 'sbatch: error: Batch job submission failed: Unable to contact slurm controller' >&2; exit 1\n");
    one.start();
    CHECK(WEXITSTATUS(one.look_until_ended().wait_status) == 0);
    CHECK(lines_of(one.cluster.log("sbatch.log")) == 2);
}

TEST_CASE("A submission that is refused when it is repeated ends that attempt alone") {
    OneJob one("exit 0\n");
    one.cluster.write("first",
                      "echo 'echo \"sbatch: error: Invalid account\" >&2; exit 1' > \"$here/first\"\n"
                      "echo 'sbatch: error: Unable to contact slurm controller (connect failure)' >&2; exit 1\n");
    one.start();
    const sweeps::RunStatus status = one.look_until_ended();
    CHECK(status.batch_end == sweeps::BatchEnd::refusal);
    CHECK_THAT(status.batch_words, ContainsSubstring("Invalid account"));
}

TEST_CASE("A cancelled job counts as ended also where the controller is down") {
    OneJob one(kForever);
    const sweeps::RunId id = one.start();
    one.look_until([](const auto& status) { return status.phase == sweeps::RunPhase::waiting; });
    one.cluster.write("down", "");
    one.cluster.write("scancel", "#!/bin/bash\nexit 1\n");
    one.launcher->end(id);
    CHECK(one.look_until_ended().batch_end == sweeps::BatchEnd::cancellation);
    one.cluster.remove("down");
}

TEST_CASE("A job asks its attempt to stop at SIGTERM, begins no other, and kills what exceeds the grace") {
    const TemporaryFolder folder;
    write_file_atomically(folder / "trial", "#!/bin/bash\ntouch \"$2/begun\"\nwhile :; do sleep 0.1; done\n");
    std::filesystem::permissions(folder / "trial", std::filesystem::perms::owner_all);
    for (const char* run : {"a.1", "b.1"}) std::filesystem::create_directory(folder / run);
    sweeps::write_batch_job(folder.path(), {(folder / "trial").string(), {folder / "a.1", folder / "b.1"}, {}, 0.3});
    Process job({DEFT_PROGRAM, "job", folder.path().string()}, folder / "out", folder / "err");
    REQUIRE(wait_until([&] { return std::filesystem::exists(folder / "a.1" / "begun"); }));
    job.signal(SIGTERM);
    CHECK(job.wait() == 0);
    const auto ends = sweeps::read_run_ends(folder.path());
    REQUIRE(ends.size() == 2);
    CHECK(WTERMSIG(ends.at("a.1")) == SIGKILL);
    CHECK(ends.at("b.1") == -1);
    CHECK_FALSE(std::filesystem::exists(folder / "b.1" / "begun"));
}

TEST_CASE("Ends in a job's file that are torn or foreign are passed over") {
    const TemporaryFolder folder;
    CHECK(sweeps::read_run_ends(folder.path()).empty());
    write_file_atomically(folder / "job.jsonl",
                          "[1]\n{\"type\":\"ended\",\"run\":\"a.1\",\"wait_status\":256}\n{\"type\":\"x\"}\nnone\n"
                          "{\"type\":\"ended\",\"run\":\"b.1\",\"wait_status\":0}");
    CHECK(sweeps::read_run_ends(folder.path()) == std::map<std::string, int>{{"a.1", 256}});
}
