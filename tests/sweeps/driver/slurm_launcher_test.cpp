// Trials as Slurm jobs, by an sbatch, squeue, sacct and scancel of a few shell lines.

#include "sweeps/driver/slurm_launcher.h"

#include <csignal>
#include <map>

#include "base/process.h"
#include "sweeps/driver/batch_job.h"
#include "sweeps/driver/claim.h"
#include "sweeps/driver/slurm_job.h"
#include "sweeps/driver/stop_file.h"
#include "tests/refusal.h"
#include "tests/sweeps/fake_cluster.h"
#include "tests/sweeps/fake_trial.h"
#include "tests/sweeps/one_job.h"
#include "tests/sweeps/program.h"
#include "tests/with_variable.h"

using namespace deft;
using namespace deft::test;

namespace {

const std::vector<std::string> kJobs = {"--launcher", "slurm"};
// Killed by its job, or together with it.
bool is_killed(const sweeps::RunStatus& status) {
    return status.batch_end == sweeps::BatchEnd::cancellation || WTERMSIG(status.wait_status) == SIGKILL;
}

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

TEST_CASE("A driver that is asked to stop leaves its jobs, and the next one adopts them") {
    const int signal = GENERATE(SIGTERM, SIGINT);
    const TinySweep local("[[case]]\nname = \"plain\"\n" + long_budget(200'000) + "[[case]]\nname = \"other\"\n");
    const TinySweep sweep("[[case]]\nname = \"plain\"\n" + long_budget(200'000) + "[[case]]\nname = \"other\"\n");
    const Cluster cluster(sweep.folder);
    // One job waits; the other trains.
    cluster.write("first", "state=PENDING; reason=Priority; begins=false\n");
    Process driver = sweep.start({"--launcher", "slurm", "--slots", "cpu:2"});
    const pid_t trial = sweep.freeze_trial();
    REQUIRE(trial > 0);
    driver.signal(signal);
    CHECK(driver.wait() == (signal == SIGTERM ? kExitWorkLeft : 128 + SIGINT));
    CHECK_THAT(read_file(sweep.err()), ContainsSubstring("leaving: 2 attempts continue as Slurm jobs") &&
                                           ContainsSubstring("deft cancel tiny --root ") &&
                                           ContainsSubstring("to continue: deft run ") &&
                                           ContainsSubstring("--launcher slurm"));
    CHECK(sweep.value("SELECT count(*) FROM attempt WHERE state IN ('leased', 'running')") == "2");
    const Ran refused = sweep.run({"--launcher", "local"});
    CHECK(refused.exit_code == kExitUsage);
    CHECK_THAT(refused.err, ContainsSubstring("2 attempts of this sweep wait or run as Slurm jobs") &&
                                ContainsSubstring("adopt them with --launcher slurm"));

    ::kill(trial, SIGCONT);
    cluster.begin("100");
    const Ran ran = sweep.run({"--launcher", "slurm", "--slots", "cpu:2"});
    CHECK(ran.exit_code == 0);
    CHECK_THAT(ran.err, ContainsSubstring("adopted 2 attempts"));
    CHECK(lines_of(cluster.log("sbatch.log")) == 4);  // two trainings and their scorings
    CHECK(sweep.value("SELECT count(*) FROM attempt WHERE state <> 'ok'") == "0");
    REQUIRE(local.run({"--launcher", "local"}).exit_code == 0);
    CHECK(sweep.measured() == local.measured());
}

TEST_CASE("deft cancel withdraws jobs that wait and stops those that run; the next run resumes them") {
    const bool has_driver = GENERATE(true, false);
    CAPTURE(has_driver);
    const TinySweep sweep("[[case]]\nname = \"plain\"\n" + long_budget(200'000) + "[[case]]\nname = \"other\"\n");
    const Cluster cluster(sweep.folder);
    cluster.write("first", "state=PENDING; reason=Priority; begins=false\n");
    Process driver = sweep.start({"--launcher", "slurm", "--slots", "cpu:2"});
    const pid_t trial = sweep.freeze_trial();
    REQUIRE(trial > 0);
    if (!has_driver) {
        driver.signal(SIGTERM);
        CHECK(driver.wait() == kExitWorkLeft);
    }
    const Ran cancelled = sweep.deft("cancel", {"tiny", "--root", sweep.root.string()});
    CHECK(cancelled.exit_code == 0);
    CHECK_THAT(cancelled.err, ContainsSubstring("2 attempts of 2 Slurm jobs: those that wait are cancelled"));
    CHECK(lines_of(cluster.log("scancel.log")) == 2);
    CHECK_THAT(cluster.log("scancel.log"), ContainsSubstring("--state=PENDING"));
    ::kill(trial, SIGCONT);
    if (has_driver) {
        CHECK(driver.wait() == kExitWorkLeft);
        CHECK_THAT(read_file(sweep.err()), ContainsSubstring("held plain/1: somebody cancelled it") &&
                                               ContainsSubstring("held other/1: somebody cancelled it"));
    }
    CHECK(sweep.run(kJobs).exit_code == 0);
    CHECK(sweep.value("SELECT count(*) FROM attempt WHERE state = 'cancelled' AND fail_class = 'user'") == "2");
    CHECK(sweep.count("ok") == "2");
    const Ran none = sweep.deft("cancel", {"tiny", "--root", sweep.root.string()});
    CHECK_THAT(none.err, ContainsSubstring("No attempt of this sweep waits or runs as a Slurm job"));
}

TEST_CASE("A job that Slurm refuses ends the run with Slurm's words, and one that it never starts is held") {
    const TinySweep sweep(kTwoRecipes);
    const Cluster cluster(sweep.folder);
    cluster.write("refuses", "sbatch: error: invalid partition specified: gup\n");
    const Ran refused = sweep.run(kJobs);
    CHECK(refused.exit_code == kExitUsage);
    CHECK_THAT(refused.err, ContainsSubstring("invalid partition specified: gup") && ContainsSubstring("sinfo"));
    CHECK(cluster.log("sbatch.log").empty());
    // Nodes may be down for now.
    cluster.write("refuses", "allocation failure: Requested node configuration is not available\n");
    cluster.write("first", "state=PENDING; reason=PartitionTimeLimit; begins=false\n");
    const Ran held = sweep.run(kJobs);
    CHECK(held.exit_code == kExitWorkLeft);
    CHECK_THAT(held.err, ContainsSubstring("Slurm never starts such a job: PartitionTimeLimit") &&
                             ContainsSubstring("1 ok, 1 left"));
    cluster.remove("refuses");
    cluster.write("first", "echo 'sbatch: error: QOSMaxSubmitJobPerUserLimit' >&2; exit 1\n");
    const Ran limited = sweep.run(kJobs);
    CHECK(limited.exit_code == kExitWorkLeft);
    CHECK_THAT(limited.err, ContainsSubstring("QOSMaxSubmitJobPerUserLimit"));
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
    CHECK(is_killed(one.look_until_ended()));
}

TEST_CASE("A job that left the queue without a word ends as accounting says, or once nobody knows it") {
    const auto [accounting, end] = GENERATE(
        table<std::string, sweeps::BatchEnd>({{"100|NAME|TIMEOUT\n", sweeps::BatchEnd::time_limit},
                                              {"100|NAME|OUT_OF_MEMORY\n", sweeps::BatchEnd::out_of_memory},
                                              {"100|NAME|NODE_FAIL\n", sweeps::BatchEnd::node_failure},
                                              {"100|NAME|PREEMPTED\n", sweeps::BatchEnd::preemption},
                                              {"100|NAME|CANCELLED by 0\n", sweeps::BatchEnd::cancellation},
                                              {"100|another job of that number|TIMEOUT\n", sweeps::BatchEnd::forgotten},
                                              {"100|NAME\n", sweeps::BatchEnd::forgotten},
                                              {"100|NAME|FAILED\n", sweeps::BatchEnd::loss},
                                              {"", sweeps::BatchEnd::forgotten}}));
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

TEST_CASE("A job that the queue shows as ended needs no accounting") {
    const auto [state, end] =
        GENERATE(table<std::string, sweeps::BatchEnd>({{"TIMEOUT", sweeps::BatchEnd::time_limit},
                                                       {"OUT_OF_MEMORY", sweeps::BatchEnd::out_of_memory},
                                                       {"NODE_FAIL", sweeps::BatchEnd::node_failure},
                                                       {"CANCELLED", sweeps::BatchEnd::cancellation},
                                                       {"FAILED", sweeps::BatchEnd::loss}}));
    CAPTURE(state);
    OneJob one(kForever);
    one.cluster.write("first", "begins=false\n");
    one.start();
    one.look_until([](const auto& status) { return status.phase == sweeps::RunPhase::waiting; });
    one.cluster.set_state("100", state);
    CHECK(one.look_until_ended().batch_end == end);
}

TEST_CASE("An attempt that its job asked to end has the reason that Slurm gives the job") {
    const auto [state, end] =
        GENERATE(table<std::string, sweeps::BatchEnd>({{"CANCELLED", sweeps::BatchEnd::cancellation},
                                                       {"PREEMPTED", sweeps::BatchEnd::preemption},
                                                       {"COMPLETED", sweeps::BatchEnd::time_limit},
                                                       {"RUNNING", sweeps::BatchEnd::time_limit}}));
    CAPTURE(state);
    // Trials begin with SIGTERM blocked, so a shell sees it as pending. Several ranks hear it through a stop file.
    const std::string stop = GENERATE("", "touch \"$2/stop\"\n");
    CAPTURE(stop);
    OneJob one("touch \"$2/begun\"\nuntil grep -q 'ShdPnd:.*4000$' /proc/$$/status; do sleep 0.1; done\n" + stop +
               "exit 75\n");
    one.start();
    REQUIRE(wait_until([&] { return std::filesystem::exists(one.run / "begun"); }));
    const int leader = std::atoi(read_file(one.cluster.bin / "numbers" / "100").c_str());
    REQUIRE(leader > 1);
    ::kill(leader, SIGTERM);
    REQUIRE(wait_until([&] { return !std::filesystem::exists(one.cluster.bin / "queue" / "100"); }));
    one.cluster.write("queue/100", read_file(one.cluster.bin / "last.100"));
    one.cluster.set_state("100", state);
    const sweeps::RunStatus status = one.look_until_ended();
    CHECK(status.batch_end == end);
    CHECK(WEXITSTATUS(status.wait_status) == kExitWorkLeft);
}

TEST_CASE("An attempt of a job that the kernel killed for memory has failed for that") {
    OneJob one("exit 0\n");
    one.cluster.write("first", "begins=false\n");
    one.start();
    write_file_atomically(one.job_folder() / "job.jsonl",
                          R"({"type":"ended","run":"abc.1","wait_status":9,"cause":"out_of_memory"})"
                          "\n");
    CHECK(one.look_until_ended().batch_end == sweeps::BatchEnd::out_of_memory);
}

TEST_CASE("A launcher adopts the jobs of an earlier one, and nothing that left none") {
    OneJob one("sleep 1\nexit 3\n");
    one.start();
    const auto later = sweeps::make_slurm_launcher({}, one.patience);
    CHECK_FALSE(later->adopt(one.run.parent_path() / "other.1"));
    REQUIRE(later->adopt(one.run));
    sweeps::RunStatus status;
    REQUIRE(wait_until([&] {
        for (const auto& [id, seen] : later->look()) status = seen;
        return status.phase == sweeps::RunPhase::ended;
    }));
    CHECK(WEXITSTATUS(status.wait_status) == 3);
    CHECK(lines_of(one.cluster.log("sbatch.log")) == 1);
}

TEST_CASE("A launcher adopts a job whose root has another path now") {
    OneJob one(kForever);
    one.cluster.write("first", "state=PENDING; reason=Priority; begins=false\n");
    one.start();
    const auto later = sweeps::make_slurm_launcher({}, one.patience);
    REQUIRE(later->adopt(one.folder.path / "." / "root" / "runs" / "abc.1"));
    const auto seen = later->look();
    REQUIRE(seen.size() == 1);
    CHECK(seen.front().second.phase == sweeps::RunPhase::waiting);
    CHECK(seen.front().second.reason == "Priority");
}

TEST_CASE("An adopted job that nobody knows is lost, and is not submitted again by its old name") {
    OneJob one("exit 0\n");
    one.cluster.write("first",
                      "rm \"$here/begin.$number\"; trap 'rm \"$here/queue/$number\"' EXIT; begins=false; says=''\n");
    one.start();
    const auto later = sweeps::make_slurm_launcher({}, one.patience);
    REQUIRE(later->adopt(one.run));
    sweeps::RunStatus status;
    REQUIRE(wait_until([&] {
        for (const auto& [id, seen] : later->look()) status = seen;
        return status.phase == sweeps::RunPhase::ended;
    }));
    CHECK(status.batch_end == sweeps::BatchEnd::forgotten);
    CHECK(lines_of(one.cluster.log("sbatch.log")) == 1);
}

TEST_CASE("A job of several attempts runs them one after the other") {
    const TinySweep local(kTwoRecipes, "[1, 2, 3]"), queued(kTwoRecipes, "[1, 2, 3]");
    REQUIRE(local.run({"--launcher", "local"}).exit_code == 0);
    const Cluster cluster(queued.folder);
    REQUIRE(queued.run({"--launcher", "slurm", "--slurm", "pack=3", "--slots", "cpu:6"}).exit_code == 0);
    CHECK(queued.measured() == local.measured());
    CHECK(queued.count("ok") == "6");
    CHECK(lines_of(cluster.log("sbatch.log")) < 12);
    CHECK(queued.value("SELECT max(n) FROM (SELECT count(*) AS n FROM attempt GROUP BY job)") == "3");
}

TEST_CASE("Attempts side by side in a job measure the bits of trials on this machine") {
    const TinySweep local(kTwoRecipes, "[1, 2, 3]"), queued(kTwoRecipes, "[1, 2, 3]");
    REQUIRE(local.run({"--launcher", "local"}).exit_code == 0);
    const Cluster cluster(queued.folder);
    const Ran ran = queued.run({"--launcher", "slurm", "--slurm", "at_once=3", "--slots", "cpu:6"});
    REQUIRE(ran.exit_code == 0);
    CHECK(queued.measured() == local.measured());
    CHECK(queued.count("ok") == "6");
    CHECK(queued.value("SELECT max(n) FROM (SELECT count(*) AS n FROM attempt GROUP BY job)") == "3");
    CHECK_THAT(cluster.log("sbatch.log"), ContainsSubstring(" --nodes=1 --ntasks=3 --cpus-per-task=1 "));
    CHECK(lines_of(cluster.log("test.log")) == 1);
    CHECK_THAT(cluster.log("test.log"), ContainsSubstring("--test-only --nodes=1 --ntasks=3 --cpus-per-task=1 "));
    CHECK_THAT(ran.err, ContainsSubstring("held 0.") && ContainsSubstring(" core-hours"));
}

TEST_CASE("Settings that give trials no place of their own are refused before anything starts") {
    const TinySweep sweep(kTwoRecipes);
    const Cluster cluster(sweep.folder);
    const auto refused = [&](const std::string& settings, const std::vector<std::string>& more = {}) {
        std::vector<std::string> words = {"--launcher", "slurm", "--slurm", settings};
        words.insert(words.end(), more.begin(), more.end());
        const Ran ran = sweep.run(words);
        CHECK(ran.exit_code == kExitUsage);
        return ran.err;
    };
    CHECK_THAT(refused("gpus=a100"), ContainsSubstring("trials run on the CPU") && ContainsSubstring("--slots gpu"));
    CHECK_THAT(refused("at_once=2", {"--ranks", "2", "--ranks-per-node", "1"}),
               ContainsSubstring("ranks_per_node spreads a trial over 2 nodes, and slurm.at_once"));
    CHECK(cluster.log("sbatch.log").empty());
    CHECK_FALSE(std::filesystem::exists(sweep.root / "jobs"));
}

TEST_CASE("A job's shell reads the setup file, and sbatch has the further options") {
    const std::filesystem::path setup = std::filesystem::temp_directory_path() / fmt::format("setup-{}.sh", ::getpid());
    write_file_atomically(setup, "export FROM_SETUP='a b'\n");
    OneJob one("[ \"$FROM_SETUP\" = 'a b' ] && exit 3\n", 30,
               {.setup = setup.string(), .extra = {"--exclusive", "--gres=gpu:a100:1"}});
    one.start();
    CHECK(WEXITSTATUS(one.look_until_ended().wait_status) == 3);
    CHECK_THAT(one.cluster.log("sbatch.log"), ContainsSubstring(" --exclusive --gres=gpu:a100:1 "));
    std::filesystem::remove(setup);
    CHECK_THAT(refusal(ErrorKind::missing, [&] { sweeps::make_slurm_launcher({.setup = setup.string()}); }),
               ContainsSubstring("slurm.setup names"));
}

TEST_CASE("Twenty equal jobs are one array, whose tasks end one by one") {
    OneJob one("[[ \"$2\" == *r.7 ]] && exit 3\n[[ \"$2\" == *r.8 ]] || exit 0\n" + std::string(kForever));
    one.start();
    CHECK(one.look_until_ended().wait_status == 0);
    std::map<sweeps::RunId, int> attempts;
    for (int i = 0; i < 20; ++i) attempts[one.start(fmt::format("r.{}", i))] = i;
    std::map<int, sweeps::RunStatus> ended;
    const auto look = [&](const sweeps::Launcher& launcher, const std::map<sweeps::RunId, int>& of, std::size_t count) {
        return wait_until([&] {
            for (const auto& [id, status] : const_cast<sweeps::Launcher&>(launcher).look())
                if (status.phase == sweeps::RunPhase::ended) ended[of.at(id)] = status;
            return ended.size() >= count;
        });
    };
    REQUIRE(look(*one.launcher, attempts, 19));
    CHECK(lines_of(one.cluster.log("sbatch.log")) == 2);
    CHECK_THAT(one.cluster.log("sbatch.log"), ContainsSubstring("--array=0-19 "));
    CHECK(WEXITSTATUS(ended[7].wait_status) == 3);
    CHECK_FALSE(ended.contains(8));
    // A later driver adopts the last task, and ends that one alone.
    const auto later = sweeps::make_slurm_launcher({}, one.patience);
    const auto run = later->adopt(one.run.parent_path() / "r.8");
    REQUIRE(run);
    later->end(*run);
    REQUIRE(look(*later, {{*run, 8}}, 20));
    CHECK_THAT(one.cluster.log("scancel.log"), ContainsSubstring("101_8\n") && !ContainsSubstring("--name"));
}

TEST_CASE("An array that Slurm refuses is submitted as jobs of their own") {
    OneJob one("exit 0\n");
    one.start();
    CHECK(one.look_until_ended().wait_status == 0);
    one.cluster.write("first", "echo 'sbatch: error: Invalid job array specification' >&2; exit 1\n");
    for (int i = 0; i < 20; ++i) one.start(fmt::format("r.{}", i));
    std::size_t ended = 0;
    REQUIRE(wait_until([&] {
        for (const auto& [id, status] : one.launcher->look()) ended += status.phase == sweeps::RunPhase::ended;
        return ended == 20;
    }));
    CHECK(lines_of(one.cluster.log("sbatch.log")) == 22);
}

TEST_CASE("An array that the controller accepted without an answer is not repeated") {
    OneJob one("exit 0\n", 5);
    one.start();
    CHECK(one.look_until_ended().wait_status == 0);
    one.cluster.write("first", "says=''; trap 'sleep 30' EXIT\n");
    for (int i = 0; i < 20; ++i) one.start(fmt::format("r.{}", i));
    std::size_t ended = 0;
    REQUIRE(wait_until([&] {
        for (const auto& [id, status] : one.launcher->look())
            ended += status.phase == sweeps::RunPhase::ended && status.batch_end == sweeps::BatchEnd::none;
        return ended == 20;
    }));
    CHECK(lines_of(one.cluster.log("sbatch.log")) == 2);
}

TEST_CASE("An end of one attempt leaves the others of its job") {
    OneJob one("touch \"$2/begun\"\n[[ \"$2\" == *b.1 ]] && exit 0\n" + std::string(kForever), 30, {.pack = 3});
    const sweeps::RunId first = one.start();
    one.look_until([](const auto& status) { return status.phase == sweeps::RunPhase::waiting; });
    const sweeps::RunId second = one.start("a.1"), third = one.start("b.1"), last = one.start("c.1");
    one.launcher->submit(false);
    one.launcher->end(first);
    REQUIRE(wait_until([&] { return std::filesystem::exists(one.run.parent_path() / "a.1" / "begun"); }));
    one.launcher->ask_to_end(last);
    one.launcher->end(second);
    std::map<sweeps::RunId, sweeps::RunStatus> ended;
    REQUIRE(wait_until([&] {
        for (const auto& [id, status] : one.launcher->look())
            if (status.phase == sweeps::RunPhase::ended) ended[id] = status;
        return ended.size() == 4;
    }));
    CHECK(WTERMSIG(ended[second].wait_status) == SIGKILL);
    CHECK(ended[third].batch_end == sweeps::BatchEnd::none);
    CHECK(WIFEXITED(ended[third].wait_status));
    CHECK(ended[last].batch_end == sweeps::BatchEnd::cancellation);
    CHECK_FALSE(std::filesystem::exists(one.run.parent_path() / "c.1" / "begun"));
}

TEST_CASE("A queue that hangs ends nothing") {
    OneJob one(kForever, 3);
    const sweeps::RunId id = one.start();
    one.cluster.write("hang", "");
    for (int i = 0; i < 2; ++i) CHECK(one.phase_after_a_while() == sweeps::RunPhase::unknown);
    one.cluster.remove("hang");
    one.launcher->end(id);
    CHECK(is_killed(one.look_until_ended()));
}

TEST_CASE("A submission that the controller accepted without an answer is not repeated") {
    OneJob one("sleep 1\nexit 0\n", 5);
    one.cluster.write("first", "says=''; trap 'sleep 30' EXIT\n");
    one.start();
    CHECK(WEXITSTATUS(one.look_until_ended().wait_status) == 0);
    CHECK(lines_of(one.cluster.log("sbatch.log")) == 1);
}

TEST_CASE("The queue is asked between two submissions that do not answer") {
    OneJob one(kForever, 3);
    const sweeps::RunId first = one.start();
    const char* const late = "says=''; trap 'sleep 30' EXIT\n";
    const auto submissions = [&] { return lines_of(one.cluster.log("sbatch.log")); };
    const auto looks = [&] { return lines_of(one.cluster.log("squeue.log")); };
    one.cluster.write("first", late);
    const sweeps::RunId second = one.start("b.1");
    one.launcher->submit(false);
    CHECK(submissions() == 2);
    one.cluster.write("first", late);
    const sweeps::RunId third = one.start("c.1");
    const std::size_t asked = looks();
    one.launcher->submit(false);
    CHECK(submissions() == 2);
    REQUIRE(wait_until([&] {
        one.launcher->look();
        return looks() > asked;
    }));
    CHECK(submissions() == 2);
    one.launcher->submit(false);
    CHECK(submissions() == 3);
    // A driver that leaves submits all the same.
    one.start("d.1");
    ::usleep(100'000);
    one.launcher->submit(true);
    CHECK(submissions() == 4);
    for (const sweeps::RunId id : {first, second, third}) one.launcher->end(id);
}

TEST_CASE("A job is adopted where sbatch was called for it, and not where the driver ended before") {
    OneJob one("exit 0\n");
    sweeps::SlurmPatience patience = one.patience;
    patience.submit = 2;
    patience.between = 60;
    std::filesystem::path called, not_called;
    {
        const std::unique_ptr<sweeps::Launcher> first = sweeps::make_slurm_launcher({}, patience);
        const auto start = [&](const std::string& name) {
            const std::filesystem::path attempt = one.run.parent_path() / name;
            std::filesystem::create_directories(attempt);
            first->start({attempt, {(one.folder.path / "trial").string(), "trial", attempt.string()}, {}, 1, 0, 9999});
            first->submit(true);
            return attempt;
        };
        one.cluster.write("first", "says=''; trap 'sleep 30' EXIT\n");
        called = start("b.1");
        not_called = start("c.1");  // within the pause after a command that was late
    }
    CHECK(lines_of(one.cluster.log("sbatch.log")) == 1);
    CHECK(std::filesystem::exists(not_called.parent_path().parent_path() / "jobs" / "c.1"));
    CHECK(one.launcher->adopt(called).has_value());
    CHECK_FALSE(one.launcher->adopt(not_called).has_value());
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

TEST_CASE("A job whose controller is down kills its attempt") {
    OneJob one(kForever);
    const sweeps::RunId id = one.start();
    one.cluster.write("down", "");
    one.cluster.write("scancel", "#!/bin/bash\nexit 1\n");
    one.launcher->end(id);
    CHECK(WTERMSIG(one.look_until_ended().wait_status) == SIGKILL);
    one.cluster.remove("down");
}

TEST_CASE("A cancelled job counts as ended also where the controller is down") {
    OneJob one(kForever);
    one.cluster.write("first", "begins=false\n");
    const sweeps::RunId id = one.start();
    one.look_until([](const auto& status) { return status.phase == sweeps::RunPhase::waiting; });
    one.cluster.write("down", "");
    one.cluster.write("scancel", "#!/bin/bash\nexit 1\n");
    one.launcher->end(id);
    CHECK(one.look_until_ended().batch_end == sweeps::BatchEnd::cancellation);
    one.cluster.remove("down");
}
