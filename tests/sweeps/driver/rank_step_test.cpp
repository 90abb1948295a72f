// Ranks as tasks of a Slurm step on several nodes, by an srun that starts them by mpirun on this machine.

#include "sweeps/driver/rank_step.h"

#include <sys/wait.h>

#include "experiments/attempt.h"
#include "sweeps/driver/claim.h"
#include "sweeps/driver/rank_nodes.h"
#include "sweeps/driver/step_launcher.h"
#include "tests/refusal.h"
#include "tests/sweeps/program.h"
#include "tests/temporary_folder.h"
#include "tests/with_variable.h"

using namespace deft;
using namespace deft::test;

namespace {

constexpr const char* kRankSrun = R"sh(#!/bin/bash
here=$(dirname "$0")
[ "$1" = --version ] && { echo "slurm-wlm 22.05.8"; exit 0; }
[ "$1" = --mpi=list ] && { cat "$here/types" >&2; exit 0; }
echo "$*" >> "$here/srun.log"
while [[ "$1" == -* ]]; do
    [[ "$1" == --ntasks=* ]] && export SLURM_STEP_NUM_TASKS=${1#*=}
    shift
done
mv "$here/first" "$here/met" 2> /dev/null && . "$here/met"
export SLURM_STEP_ID=$$ SLURM_STEP_NODELIST="n[1-2]" OMPI_MCA_ras=^slurm OMPI_MCA_plm_rsh_agent=false
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
exec mpirun --host localhost:$SLURM_STEP_NUM_TASKS --oversubscribe --bind-to none -n $SLURM_STEP_NUM_TASKS \
    bash -c 'export SLURM_PROCID=$OMPI_COMM_WORLD_RANK; exec "$@"' rank "$@"
)sh";

// In a job of two nodes with a core each.
class JobOfRanks {
 public:
    explicit JobOfRanks(const Folder& folder)
        : bin_(folder.path / "bin"), path_("PATH", bin_.string() + ":" + std::getenv("PATH")) {
        std::filesystem::create_directories(bin_);
        program("srun", kRankSrun);
        program("squeue", "#!/bin/bash\necho 1\n");
        write("types", "MPI plugin types are...\n\tpmix\n\tnone\n");
    }

    void write(const std::string& name, const std::string& text) const { write_file_atomically(bin_ / name, text); }
    std::string log() const { return read_file(bin_ / "srun.log"); }

 private:
    void program(const std::string& name, const std::string& text) const {
        write(name, text);
        std::filesystem::permissions(bin_ / name, std::filesystem::perms::owner_all);
    }

    std::filesystem::path bin_;
    WithVariable path_, job_{"SLURM_JOB_ID", "7"}, cores_{"SLURM_JOB_CPUS_PER_NODE", "1(x2)"},
        memory_{"SLURM_MEM_PER_NODE", "1000"};
};

const std::vector<std::string> kSpread = {"--ranks", "2", "--ranks-per-node", "1"};

std::string only_end(const TinySweep& sweep) {
    return sweep.value("SELECT state || ' ' || fail_class || ' ' || error FROM attempt");
}

}  // namespace

TEST_CASE("A step of ranks has a task for each, and each node's share of cores, memory and cards", "[bare]") {
    const sweeps::LaunchRequest request = {"/runs/a", {"/bin/deft", "trial", "/runs/a"}, {}, 16, 8, 0, 2, 8};
    using Words = std::vector<std::string>;
    const Words argv = sweeps::step_argv(request, {{16, 32}, 1000, 4});
    CHECK(argv == Words{"setpriv", "--pdeathsig", "KILL", "srun", "--nodes=2", "--ntasks=8", "--ntasks-per-node=4",
                        "--mpi=pmix", "--kill-on-bad-exit=1", "--wait=60", "--exact", "--cpu-bind=none",
                        "--cpus-per-task=2", "--mem=250", "--gpus=8", "--gpus-per-node=4", "/bin/deft", "trial",
                        "/runs/a"});
}

TEST_CASE("Ranks that srun starts measure the bits of ranks that mpirun starts", "[bare][mpi]") {
    if (!has_ranks()) DEFT_SKIP(kNoRanks);
    const TinySweep local(kPlain), spread(kPlain);
    REQUIRE(local.run({"--ranks", "2"}).exit_code == 0);
    {
        const JobOfRanks job(spread.folder);
        const Ran ran = spread.run(kSpread);
        REQUIRE(ran.exit_code == 0);
        CHECK_THAT(ran.err, ContainsSubstring("1 worker of 2 ranks (1 on each of 2 nodes) of 1 thread"));
        CHECK(lines_of(job.log()) == 2);
    }
    CHECK(spread.measured() == local.measured());
    CHECK(spread.value("SELECT count(DISTINCT config_hash) FROM experiment") == "1");
    CHECK(spread.value("SELECT config_hash FROM experiment") == local.value("SELECT config_hash FROM experiment"));
}

TEST_CASE("Ranks on nodes save a checkpoint and end where the driver is asked to stop", "[bare][mpi]") {
    if (!has_ranks()) DEFT_SKIP(kNoRanks);
    const TinySweep sweep("[[case]]\nname = \"plain\"\n" + long_budget(400'000));
    const JobOfRanks job(sweep.folder);
    Process driver = sweep.start(kSpread);
    REQUIRE(sweep.freeze_trial() > 0);
    driver.signal(SIGTERM);
    for (const pid_t pid : sweep.processes()) ::kill(pid, SIGCONT);
    CHECK(driver.wait() == kExitWorkLeft);
    CHECK(sweep.count("preempted") == "1");
    CHECK(sweep.run(kSpread).exit_code == 0);
    CHECK(sweep.value("SELECT count(*) FROM attempt WHERE kind = 'train' AND resume_step > 0") == "1");
}

TEST_CASE("A rank on a node that ends without a word is named with its node", "[bare][mpi]") {
    if (!engine::Communicator::has_mpi()) DEFT_SKIP(kNoRanks);
    const TinySweep sweep(kPlain);
    const JobOfRanks job(sweep.folder);
    const auto [words, end] = GENERATE(table<std::string, std::string>(
        {{"srun: error: n1: task 0: Killed\nsrun: error: n2: task 1: Segmentation fault",
          "failed crash rank 1 on n2: Segmentation fault"},
         {"srun: error: n2: task 1: Killed\nslurmstepd-n1: error: *** STEP 7.0 ON n1 CANCELLED AT now ***\n"
          "srun: error: n1: task 0: Killed",
          "failed crash rank 1 on n2: Killed"},
         {"srun: error: task 1 launch failed: Unspecified error\nsrun: error: n1: task 0: Killed",
          "failed crash task 1 launch failed: Unspecified error. See the log of slurmd"}}));
    job.write("first", "echo '" + words + "' >&2; exit 139\n");
    sweep.run(kSpread);
    CHECK_THAT(sweep.value("SELECT state || ' ' || fail_class || ' ' || error FROM attempt WHERE number = 1"),
               ContainsSubstring(end));
}

TEST_CASE("A failed node of a step of ranks is a preemption that names it", "[bare][mpi]") {
    if (!engine::Communicator::has_mpi()) DEFT_SKIP(kNoRanks);
    const TinySweep sweep(kPlain);
    const JobOfRanks job(sweep.folder);
    job.write("first",
              "echo 'srun: error: Node failure on n2' >&2; echo 'srun: error: n1: task 0: Killed' >&2\n"
              "kill -TERM $(cut -d' ' -f4 /proc/$$/stat); exit 137\n");
    sweep.run(kSpread);
    CHECK(only_end(sweep) == "preempted node its node failed: srun: error: Node failure on n2");
}

TEST_CASE("A step of ranks is held where its job has lost a node for good", "[slow][bare][mpi]") {
    if (!engine::Communicator::has_mpi()) DEFT_SKIP(kNoRanks);
    const TinySweep sweep(kPlain);
    const JobOfRanks job(sweep.folder);
    job.write("first", "sleep 600\n");
    CHECK(sweep.run(kSpread).exit_code == kExitWorkLeft);
    CHECK(only_end(sweep) ==
          "cancelled config Slurm never starts such a job: this job has 1 node left, and a trial takes 2");
}

TEST_CASE("The end of a step of ranks is that of rank 0, or of the rank that failed", "[bare]") {
    const TemporaryFolder folder;
    journal::Ended ended;
    ended.state = "failed";
    ended.fail_class = "nan";
    ended.error = "the loss is not finite";
    journal::Writer(experiments::journal_of_rank(folder.path(), 1)).write(ended);
    CHECK(sweeps::end_of_rank_step(folder.path(), 2) == W_EXITCODE(kExitFailed, 0));
    const auto said = sweeps::read_journal(experiments::journal_of_rank(folder.path(), 0)).ended;
    REQUIRE(said);
    CHECK(said->fail_class == "nan");
    CHECK(said->error == "rank 1: the loss is not finite");
    const TemporaryFolder silent;
    CHECK(!sweeps::end_of_rank_step(silent.path(), 2));
    write_file_atomically(silent / "log.txt",
                          "slurmstepd-n1: error: *** STEP 7.0 ON n1 CANCELLED AT now ***\n"
                          "srun: error: n1: task 0: Terminated\n");
    CHECK(!sweeps::end_of_rank_step(silent.path(), 2));
}

TEST_CASE("Ranks on nodes that Slurm cannot start are refused with the next step", "[bare]") {
    const TinySweep sweep(kPlain);
    const auto refused = [&](std::vector<std::string> options) {
        const Ran ran = sweep.run(options);
        CHECK(ran.exit_code != 0);
        return ran.err;
    };
    CHECK_THAT(refused({"--ranks", "3", "--ranks-per-node", "2"}),
               ContainsSubstring("ranks_per_node = 2 does not divide ranks = 3"));
    CHECK_THAT(refused(kSpread), ContainsSubstring("spreads a trial over 2 nodes, and trials run on this machine") &&
                                     ContainsSubstring("salloc -N2") && ContainsSubstring("--ranks-per-node 2"));
    if (!engine::Communicator::has_mpi()) return;
    const JobOfRanks job(sweep.folder);
    CHECK_THAT(refused({"--ranks", "4", "--ranks-per-node", "1", "--launcher", "steps"}),
               ContainsSubstring("4 ranks with 1 on each need 4 nodes, and this job has 2"));
    CHECK_THAT(
        refused({"--ranks", "4", "--ranks-per-node", "2"}),
        ContainsSubstring("2 ranks of 1 thread take 2 cores on each of 2 nodes; nodes of this job with as many: 0"));
    job.write("types", "MPI plugin types are...\n\tpmi2\n");
    CHECK_THAT(refused(kSpread), ContainsSubstring("srun --mpi=list has no pmix") && ContainsSubstring("libpmix2"));
    const WithVariable step("SLURM_STEP_ID", "3"), task("SLURM_PROCID", "0"), tasks("SLURM_STEP_NUM_TASKS", "1");
    CHECK_THAT(refused(kSpread), ContainsSubstring("this process is inside one"));
}

TEST_CASE("Trials at once on nodes are as many as different nodes have shares for", "[bare]") {
    CHECK(sweeps::trials_on_nodes({4, 4}, 1, 2) == 4);
    CHECK(sweeps::trials_on_nodes({4, 4, 4}, 2, 2) == 3);
    CHECK(sweeps::trials_on_nodes({8, 1}, 1, 2) == 1);
    CHECK(sweeps::trials_on_nodes({8, 2, 1}, 1, 2) == 3);
    CHECK(sweeps::trials_on_nodes({8, 1}, 2, 2) == 0);
    CHECK(sweeps::trials_on_nodes({2, 3}, 2, 1) == 2);
}

TEST_CASE("The number of a job's nodes is read from a whole answer alone", "[bare]") {
    const auto nodes = [](bool is_whole, std::vector<std::string> lines) {
        sweeps::SlurmReply reply;
        reply.is_whole = is_whole;
        reply.lines = std::move(lines);
        return sweeps::nodes_of_job(reply);
    };
    CHECK(nodes(true, {"2"}) == 2);
    CHECK(nodes(true, {"12  "}) == 12);
    CHECK(!nodes(false, {"2"}));
    CHECK(!nodes(true, {}));
    CHECK(!nodes(true, {"2", "3"}));
    CHECK(!nodes(true, {"two"}));
}
