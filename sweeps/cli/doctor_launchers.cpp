// deft doctor's findings on launchers.

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "reporting/text.h"
#include "sweeps/cli/doctor.h"
#include "sweeps/driver/cluster_probe.h"
#include "sweeps/driver/launchers.h"
#include "sweeps/driver/slurm_here.h"

namespace deft::sweeps {

namespace {

using enum Finding::State;

// "2 nodes, 4 cores and 1000 MiB each", "3 nodes, 2 to 8 cores each"
std::string nodes_text(const SlurmAllocation& allocation) {
    const auto [fewest, most] = std::ranges::minmax(allocation.node_cores);
    std::string text = counted(allocation.node_cores.size(), "node") + ", ";
    text += fewest == most ? counted(most, "core") : fmt::format("{} to {} cores", fewest, most);
    if (allocation.node_mib) text += fmt::format(" and {} MiB", *allocation.node_mib);
    return text + " each";
}

Finding steps(const SlurmHere& here, bool is_in_step) {
    constexpr const char* kSubject = "launcher steps";
    if (!here.problem.empty()) return {note, kSubject, here.problem, here.fix};
    if (is_in_step)
        return {note, kSubject, "inside a step of the job: " + nodes_text(*here.allocation),
                "trials wait for cores that this step holds; start deft outside it, as in salloc -N2 deft run SWEEP"};
    return {ok, kSubject,
            fmt::format("works: {}, Slurm {}", nodes_text(*here.allocation), reporting::visible(here.version)),
            "each trial is a step of the Slurm job, on any of its nodes"};
}

Finding jobs() {
    constexpr const char* kSubject = "launcher slurm";
    const SlurmHere here = jobs_here();
    if (!here.problem.empty()) return {note, kSubject, here.problem, here.fix};
    return {ok, kSubject, fmt::format("works: Slurm {}", reporting::visible(here.version)),
            "each trial is a Slurm job; --launcher slurm asks for it"};
}

}  // namespace

std::vector<Finding> launchers(const slurm::Variables& variables) {
    const SlurmHere here = steps_here(variables);
    const bool wants_steps = auto_means_steps(here.allocation, variables);
    Finding local = {ok, "launcher local", "works", "trials run on this machine"};
    Finding chosen = {ok, "launcher auto", "local", "steps are for a Slurm job of several nodes, outside its steps"};
    if (wants_steps && here.problem.empty())
        chosen = {ok, "launcher auto", "steps", "--launcher local leaves the other nodes idle"};
    else if (wants_steps)
        chosen = {note, "launcher auto", "local", "the other nodes of this Slurm job stay idle"};
    return {local, steps(here, slurm::is_in_step(variables)), jobs(), chosen};
}

std::vector<Finding> slurm_findings(const std::filesystem::path& root, const SlurmSettings& settings,
                                    const ProbeOptions& options) {
    const ClusterProbe probe = probe_cluster(root, settings, options);
    if (probe.host.empty()) return {{missing, "Slurm job", reporting::visible(probe.problem), probe.fix}};
    const std::string host = reporting::visible(probe.host);
    std::vector<Finding> findings = {{ok, "Slurm job", "ran on " + host, ""}};
    if (!probe.sees_files)
        findings.push_back({missing, "shared folder", fmt::format("{} does not read what this machine writes", host),
                            "use a --root on a file system that all nodes share"});
    else
        findings.push_back({ok, "shared folder", fmt::format("{} and this machine share it", host), ""});
    if (!probe.sees_lock)
        findings.push_back({note, "shared locks", fmt::format("a lock of this machine does not hold on {}", host),
                            "a second deft run is still refused, after it has watched the root for a minute"});
    else
        findings.push_back({ok, "shared locks", fmt::format("a lock of this machine holds on {}", host), ""});
    if (!probe.has_version)
        findings.push_back({missing, "program on nodes", fmt::format("{} has another version of deft", host),
                            "install the same program on all nodes"});
    return findings;
}

}  // namespace deft::sweeps
