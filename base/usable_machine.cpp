#include "base/usable_machine.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include "base/control_groups.h"

namespace deft {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

void limit_by(const char* limit, std::optional<std::int64_t> amount, UsableAmount& usable) {
    if (!amount || *amount >= usable.amount) return;
    usable = {*amount, limit};
}

// salloc leaves its shell on a machine that may not be of the allocation; Slurm states there no cores of the node.
bool is_on_allocated_node(const slurm::Variables& variables) {
    return slurm::is_in_job(variables) && slurm::number_in("SLURM_CPUS_ON_NODE", variables).has_value();
}

// A batch script may use all cores of its job on the node; a step has those of its task.
UsableAmount slurm_cores(const slurm::Variables& variables) {
    UsableAmount cores{*slurm::number_in("SLURM_CPUS_ON_NODE", variables), "SLURM_CPUS_ON_NODE"};
    if (slurm::is_in_step(variables))
        limit_by("SLURM_CPUS_PER_TASK", slurm::number_in("SLURM_CPUS_PER_TASK", variables), cores);
    return cores;
}

std::int64_t memory_of_machine(const fs::path& root) {
    std::ifstream in(root / "proc/meminfo");
    std::string name, unit;
    for (std::int64_t amount = 0; in >> name >> amount && std::getline(in, unit);)
        if (name == "MemTotal:") return amount * 1024;
    return static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::int64_t>(::sysconf(_SC_PAGESIZE));
}

// Slurm counts in MiB; 0 asks for all memory of a node.
std::optional<std::int64_t> slurm_bytes(const char* name, std::int64_t times, const slurm::Variables& variables) {
    const std::optional<std::int64_t> amount = slurm::number_in(name, variables);
    constexpr std::int64_t kMost = std::int64_t{1} << 40;
    if (!amount || *amount == 0 || *amount > kMost / std::max<std::int64_t>(1, times)) return std::nullopt;
    return *amount * times * kMiB;
}

}  // namespace

int allowed_processors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
    return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

UsableAmount usable_cores(const LimitSources& sources) {
    UsableAmount usable{sources.processors, ""};
    if (is_on_allocated_node(sources.variables)) {
        const UsableAmount given = slurm_cores(sources.variables);
        limit_by(given.limit, given.amount, usable);
    }
    if (const std::optional<double> quota = processor_quota(sources.root))
        limit_by("control group", static_cast<std::int64_t>(std::floor(*quota)), usable);
    usable.amount = std::max<std::int64_t>(1, usable.amount);
    return usable;
}

int usable_cores() {
    return static_cast<int>(usable_cores(LimitSources{}).amount);
}

UsableAmount usable_memory(const LimitSources& sources) {
    UsableAmount usable{memory_of_machine(sources.root), ""};
    const slurm::Variables& variables = sources.variables;
    if (is_on_allocated_node(variables)) {
        limit_by("SLURM_MEM_PER_NODE", slurm_bytes("SLURM_MEM_PER_NODE", 1, variables), usable);
        limit_by("SLURM_MEM_PER_CPU", slurm_bytes("SLURM_MEM_PER_CPU", slurm_cores(variables).amount, variables),
                 usable);
    }
    limit_by("control group", group_memory(sources.root), usable);
    return usable;
}

std::int64_t usable_memory() {
    return usable_memory(LimitSources{}).amount;
}

}  // namespace deft
