// start_ranks torchrun|srun N PROGRAM ARGUMENT...: starts N ranks with the variables of that launcher and waits for them.
// Like those launchers it takes a free port; it ends with the worst of their exit codes.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

// Stays bound, so that nobody else is given the port before rank 0, which may reuse it, listens there.
int free_port() {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(socket, reinterpret_cast<sockaddr*>(&address), size) != 0) return -1;
    ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.sin_port);
}

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
    const int ranks = std::atoi(argv[2]), port = free_port();
    for (int rank = 0; rank < ranks; ++rank) {
        if (::fork() != 0) continue;
        set_variables(argv[1], rank, argv[2], std::to_string(port));
        ::execv(argv[3], argv + 3);
        std::perror(argv[3]);
        ::_exit(127);
    }
    int worst = 0;
    for (int status = 0; ::wait(&status) > 0;)
        worst = std::max(worst, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return worst;
}
