// The words of srun and slurmstepd in the log of a step, as Slurm 22.05 wrote them.

#include "sweeps/driver/step_log.h"

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
