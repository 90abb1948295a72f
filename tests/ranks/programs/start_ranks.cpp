// start_ranks torchrun|srun N PROGRAM ARGUMENT...: starts N ranks with the variables of that launcher and waits for
// them. Like those launchers it takes a free port; it ends with the worst of their exit codes.

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/free_port.h"

namespace {

void set(const char* name, const std::string& value) {
    ::setenv(name, value.c_str(), 1);
}

void set_variables(const std::string& launcher, int rank, const std::string& ranks, const std::string& port) {
    if (launcher == "torchrun") {
        set("RANK", std::to_string(rank));
        set("LOCAL_RANK", std::to_string(rank));
        set("WORLD_SIZE", ranks);
        set("MASTER_ADDR", "localhost");
        set("MASTER_PORT", port);
        return;
    }
    set("SLURM_JOB_ID", "4711");
    set("SLURM_STEP_ID", "0");
    set("SLURM_NTASKS", ranks);
    set("SLURM_STEP_NUM_TASKS", ranks);
    set("SLURM_PROCID", std::to_string(rank));
    set("SLURM_STEP_NODELIST", "localhost");
    set("DEFT_PORT", port);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) return 2;
    const int ranks = std::atoi(argv[2]);
    const deft::test::FreePort port;
    for (int rank = 0; rank < ranks; ++rank) {
        if (::fork() != 0) continue;
        set_variables(argv[1], rank, argv[2], std::to_string(port.number()));
        ::execv(argv[3], argv + 3);
        std::perror(argv[3]);
        ::_exit(127);
    }
    int worst = 0;
    for (int status = 0; ::wait(&status) > 0;)
        worst = std::max(worst, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return worst;
}
