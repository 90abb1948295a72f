#include "sweeps/driver/rank_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/process.h"
#include "base/text.h"
#include "engine/comm/communicator.h"

namespace deft::sweeps {

namespace {

constexpr const char* kNoStart = "nothing was started";

void require_pmix() {
    ProcessOutput types;
    try {
        // Some versions list the types in standard error.
        types = run_process({"sh", "-c", "exec srun --mpi=list 2>&1"}, std::chrono::seconds(5));
    } catch (const Error&) {
    }
    if (types.out.find("pmix") != std::string::npos) return;
    if (types.is_overdue)
        throw Error(ErrorKind::missing, "srun --mpi=list did not answer within 5 s",
                    "see what it waits for, such as a controller that is down", kNoStart);
    throw Error(ErrorKind::missing, "ranks on several nodes meet by srun --mpi=pmix, and srun --mpi=list has no pmix",
                "install Slurm's PMIx plugin (Debian: slurm-wlm-basic-plugins with libpmix2), or leave ranks_per_node "
                "out",
                kNoStart);
}

}  // namespace

int trials_on_nodes(const std::vector<int>& node_cores, int cores_of_node, int nodes_of_trial) {
    int shares = 0;
    for (const int cores : node_cores) shares += cores / cores_of_node;
    // A node with more shares than trials at once leaves the others idle.
    for (int trials = shares / nodes_of_trial; trials > 0; --trials) {
        int taken = 0;
        for (const int cores : node_cores) taken += std::min(trials, cores / cores_of_node);
        if (taken >= trials * nodes_of_trial) return trials;
    }
    return 0;
}

void require_room_for_ranks(const SlotRequest& request, int threads) {
    const int nodes = request.nodes_of_trial(), ranks = request.ranks_of_node();
    if (request.node_cores.size() < static_cast<std::size_t>(nodes))
        throw Error(
            ErrorKind::missing,
            fmt::format("{} with {} on each need {} nodes, and this job has {}", counted(request.ranks, "rank"), ranks,
                        nodes, request.node_cores.size()),
            fmt::format("ask Slurm for {} nodes, as in salloc -N{}, or use a larger ranks_per_node", nodes, nodes),
            kNoStart);
    const int cores = std::max(1, threads) * ranks;
    if (trials_on_nodes(request.node_cores, cores, nodes) > 0) return;
    const auto wide = std::ranges::count_if(request.node_cores, [&](int of_node) { return of_node >= cores; });
    throw Error(
        ErrorKind::missing,
        fmt::format("{} of {} take {} on each of {} nodes; nodes of this job with as many: {}", counted(ranks, "rank"),
                    counted(std::max(1, threads), "thread"), counted(cores, "core"), nodes, wide),
        "use fewer --threads, a smaller ranks_per_node, or ask Slurm for more cores on each node", kNoStart);
}

void require_ranks_on_nodes(const SlotRequest& request, const slurm::Variables& variables) {
    const bool has_nodes = request.is_queued || !request.node_cores.empty();
    if (!has_nodes && slurm::is_in_step(variables))
        throw Error(ErrorKind::missing, "ranks_per_node needs steps of its own, and this process is inside one",
                    "start deft run without srun, as in salloc -N2 deft run SWEEP", kNoStart);
    if (!has_nodes)
        throw Error(ErrorKind::missing,
                    fmt::format("ranks_per_node = {} spreads a trial over {} nodes, and trials run on this machine",
                                request.ranks_of_node(), request.nodes_of_trial()),
                    fmt::format("start deft run in a Slurm job of {0} nodes (salloc -N{0}), add --launcher slurm, or "
                                "use --ranks-per-node {1}",
                                request.nodes_of_trial(), request.ranks),
                    kNoStart);
    if (!engine::Communicator::has_mpi())
        throw Error(ErrorKind::missing, "several ranks need MPI, and this deft was built without it",
                    "install MPI and build with it: ./deft --mpi (Debian: libopenmpi-dev, openmpi-bin)", kNoStart);
    require_pmix();
}

}  // namespace deft::sweeps
