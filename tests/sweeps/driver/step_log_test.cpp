// The words of srun and slurmstepd in the log of a step, as Slurm 22.05 wrote them.

#include "sweeps/driver/step_log.h"

#include <fmt/format.h>

#include "base/files.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::sweeps;

namespace {

StepWords words_of(const std::string& log) {
    const test::TemporaryFolder folder;
    write_file_atomically(folder / "log.txt", log);
    return step_words(folder / "log.txt");
}

}  // namespace

TEST_CASE("The log of a step says why Slurm ended it") {
    CHECK(words_of("srun: error: Node failure on n2\n").end == BatchEnd::node_failure);
    CHECK(
        words_of("slurmstepd-n2: error: Detected 1 oom_kill event in StepId=7.1. Some of the step tasks have been OOM "
                 "Killed.\nsrun: error: n2: task 0: Out Of Memory\n")
            .end == BatchEnd::out_of_memory);
    CHECK(words_of("slurmstepd: error: *** STEP 3.1 ON n2 CANCELLED AT 2026-11-28T14:35:54 DUE TO TIME LIMIT ***\n")
              .end == BatchEnd::time_limit);
    CHECK(words_of("slurmstepd: error: *** STEP 3.1 ON n2 CANCELLED AT 2026-11-28T14:35:54 DUE TO PREEMPTION ***\n")
              .end == BatchEnd::preemption);
    CHECK(words_of("slurmstepd: error: *** STEP 3.1 ON n2 CANCELLED AT 2026-11-28T14:35:54 ***\n").end ==
          BatchEnd::cancellation);
}

TEST_CASE("A step that could not begin, as its node did not answer, ended for that node") {
    const StepWords words = words_of(
        "srun: error: Task launch for StepId=5.1 failed on node n2: Communication connection failure\n"
        "srun: error: Application launch failed: Communication connection failure\nsrun: Job step aborted\n");
    CHECK(words.end == BatchEnd::node_failure);
    CHECK_THAT(words.line, ContainsSubstring("failed on node n2"));
    CHECK(words_of("srun: error: Application launch failed: Invalid job credential\n").end == BatchEnd::none);
}

TEST_CASE("A step that srun refuses, since the job is ending, was closed out of it") {
    for (const char* line : {"srun: error: Unable to create step for job 3: Job/step already completing or completed",
                             "srun: error: Unable to create step for job 3: Invalid job id specified",
                             "srun: error: Unable to create step for job 3: Job is pending execution",
                             "srun: error: Unable to confirm allocation for job 3: Invalid job id specified",
                             "srun: error: Slurm job 3 has expired", "srun: error: SLURM job 3 has expired."}) {
        CAPTURE(line);
        const std::string wait =
            "srun: Job 3 step creation temporarily disabled, retrying (Requested nodes are busy)\n";
        const StepWords words = words_of(wait + line + "\nsrun: Check SLURM_JOB_ID environment variable.\n");
        CHECK(words.end == BatchEnd::closed);
        CHECK(words.line == line);
        CHECK(words_of(std::string("training ") + line + "\n").end == BatchEnd::none);
    }
    // Another step of the job may still begin.
    for (const char* line :
         {"srun: error: Unable to create step for job 3: Memory required by task is not available",
          "srun: error: Unable to confirm allocation for job 3: Unable to contact slurm controller (connect failure)",
          "srun: error: slurm_kill_job_step: Job/step already completing or completed"})
        CHECK(words_of(std::string(line) + "\n").end == BatchEnd::none);
}

TEST_CASE("A step that srun ends without a reason is forgotten") {
    const std::string aborted = "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.\n";
    CHECK(words_of(aborted).end == BatchEnd::forgotten);
    CHECK(words_of(aborted).line + "\n" == aborted);
    for (const char* signal : {"Killed", "Terminated"})
        CHECK(words_of("srun: forcing job termination\n" + aborted + "srun: error: n1: task 0: " + signal + "\n").end ==
              BatchEnd::forgotten);
    // With a reason, in any order of the lines.
    const std::string cancelled = "slurmstepd-n2: error: *** STEP 3.1 ON n2 CANCELLED AT 2026-11-28T14:35:54";
    CHECK(words_of(aborted + "srun: error: Node failure on n2\n").end == BatchEnd::node_failure);
    CHECK(words_of(aborted + cancelled + " DUE TO TIME LIMIT ***\n").end == BatchEnd::time_limit);
    CHECK(words_of(aborted + cancelled + " DUE TO JOB REQUEUE ***\n").end == BatchEnd::preemption);
    CHECK(words_of(cancelled + " ***\n" + aborted).end == BatchEnd::cancellation);
    // A task that failed by itself is a reason.
    for (const char* failure : {"task 0: Segmentation fault", "tasks 0-3: Exited with exit code 3"})
        CHECK(words_of(fmt::format("srun: error: n1: {}\n{}", failure, aborted)).end == BatchEnd::none);
    CHECK(words_of("  " + aborted).end == BatchEnd::none);
}

TEST_CASE("A reason comes before the cancellation that it led to, in any order of the lines") {
    const std::string cancelled = "slurmstepd-n2: error: *** STEP 3.1 ON n2 CANCELLED AT 2026-11-28T14:35:54 ***\n";
    const std::string reason = "srun: error: Node failure on n2\n";
    CHECK(words_of(cancelled + reason).end == BatchEnd::node_failure);
    CHECK(words_of(reason + cancelled).line == "srun: error: Node failure on n2");
}

TEST_CASE("Words of the trial itself are not Slurm's") {
    for (const char* log :
         {"", "training\n", "Node failure on n2\n", "  srun: error: Node failure on n2\n",
          "srun: cluster configuration lacks support for cpu binding\n", "srun: error: n2: task 0: Killed\n",
          "srun: Job 3 step creation temporarily disabled, retrying (Requested nodes are busy)\n"}) {
        CAPTURE(log);
        CHECK(words_of(log).end == BatchEnd::none);
        CHECK(words_of(log).line.empty());
    }
    CHECK(step_words("/nonexistent/log.txt").end == BatchEnd::none);
}
