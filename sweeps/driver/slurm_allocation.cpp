#include "sweeps/driver/slurm_allocation.h"

#include <algorithm>
#include <charconv>

#include "base/usable_machine.h"

namespace deft::sweeps {

namespace {

constexpr int kMostNodes = 1 << 16;

// Takes a positive number off the front. Nothing where there is none.
std::optional<int> take_number(std::string_view& text) {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || number <= 0) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

bool take(std::string_view& text, std::string_view word) {
    if (!text.starts_with(word)) return false;
    text.remove_prefix(word.size());
    return true;
}

// Memory is stated for each node, where 0 is all of it, or for each core.
std::optional<std::int64_t> memory_of_node(int cores, const slurm::Variables& variables) {
    if (const auto of_node = slurm::number_in("SLURM_MEM_PER_NODE", variables))
        return *of_node > 0 ? *of_node : usable_memory() >> 20;
    if (const auto of_core = slurm::number_in("SLURM_MEM_PER_CPU", variables); of_core && *of_core > 0)
        return *of_core * cores;
    return std::nullopt;
}

}  // namespace

std::vector<int> slurm_counts(std::string_view text) {
    std::vector<int> counts;
    do {
        const std::optional<int> count = take_number(text);
        if (!count) return {};
        std::optional<int> nodes = 1;
        if (take(text, "(x")) {
            nodes = take_number(text);
            if (!nodes || *nodes > kMostNodes || !take(text, ")")) return {};
        }
        counts.insert(counts.end(), static_cast<std::size_t>(*nodes), *count);
    } while (take(text, ","));
    return text.empty() ? counts : std::vector<int>{};
}

std::optional<SlurmAllocation> slurm_allocation(const slurm::Variables& variables) {
    const char* const cores = variables("SLURM_JOB_CPUS_PER_NODE");
    if (!slurm::is_in_job(variables) || cores == nullptr) return std::nullopt;
    SlurmAllocation allocation;
    allocation.node_cores = slurm_counts(cores);
    if (allocation.node_cores.empty()) return std::nullopt;
    allocation.node_mib = memory_of_node(std::ranges::max(allocation.node_cores), variables);
    allocation.node_gpus = static_cast<int>(
        std::min<std::int64_t>(slurm::number_in("SLURM_GPUS_ON_NODE", variables).value_or(0), kMostNodes));
    return allocation;
}

}  // namespace deft::sweeps
