#include "sweeps/driver/machine_limits.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "base/usable_machine.h"
#include "experiments/engine_config.h"
#include "reporting/numbers.h"
#include "reporting/text.h"
#include "sweeps/driver/slots.h"

namespace deft::sweeps {

namespace {

namespace fs = std::filesystem;

// A checkpoint's numbers: each weight in f32 and its moments; an imported model has no moments.
std::int64_t checkpoint_bytes_of(const Trial& trial) {
    if (experiments::is_imported(trial.config)) return trial.projection.parameters * 4;
    const engine::KeptMoments moments = engine::moments_of(experiments::optimizer_config(trial.config.train));
    return trial.projection.parameters * (4 + moments.count * engine::size_of(moments.dtype(engine::DType::f32)));
}

}  // namespace

std::int64_t checkpoint_bytes(const std::vector<Trial>& trials) {
    std::set<std::string> trainings;
    std::int64_t bytes = 0;
    for (const Trial& trial : trials)
        if (trainings.insert(trial.config_hash).second) bytes += checkpoint_bytes_of(trial);
    return bytes;
}

Machine this_machine(const fs::path& root) {
    Machine machine;
    machine.memory_bytes = usable_memory();
    std::error_code error;
    fs::path folder = fs::absolute(root, error);
    while (!fs::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
    struct statvfs space {};
    if (::statvfs(folder.c_str(), &space) == 0)
        machine.free_disk_bytes = static_cast<std::int64_t>(space.f_bavail) * static_cast<std::int64_t>(space.f_frsize);
    return machine;
}

std::vector<std::string> exceeded_limits(const std::vector<Trial>& trials, const Slot& slot, std::size_t at_once,
                                         const Machine& machine, const fs::path& root) {
    const Trial* hungriest = nullptr;
    std::int64_t memory = 0;  // that it plans on all ranks of a machine
    const std::int64_t kept = checkpoint_bytes(trials);
    std::int64_t saving = 0;  // checkpoints of a trial under way
    for (const Trial& trial : trials) {
        if (slot.device == engine::Device::cpu) {
            const std::int64_t planned = slot.ranks == 1
                                             ? with_recompute(trial, slot, slot.device).projection.memory_bytes
                                             : planned_in(slot, trial).all / slot.nodes;
            if (hungriest == nullptr || planned > memory) {
                hungriest = &trial;
                memory = planned;
            }
        }
        saving = std::max(saving, trial.config.checkpoint.keep * checkpoint_bytes_of(trial));
    }
    const auto text = [](std::int64_t bytes) { return reporting::binary_bytes(static_cast<double>(bytes)); };
    std::vector<std::string> lines;
    if (hungriest != nullptr) {
        if (memory > machine.memory_bytes)
            lines.push_back(fmt::format("Memory: {} plans {} of buffers, and this machine has {}.", hungriest->name(),
                                        text(memory), text(machine.memory_bytes)));
        else if (static_cast<double>(memory) * static_cast<double>(at_once) > static_cast<double>(machine.memory_bytes))
            lines.push_back(
                fmt::format("Memory: {} trials at once plan up to {} of buffers each, and this machine has {}.",
                            at_once, text(memory), text(machine.memory_bytes)));
    }
    const std::int64_t disk = kept + saving;
    if (machine.free_disk_bytes > 0 && disk > machine.free_disk_bytes)
        lines.push_back(fmt::format("Disk: checkpoints of {} take about {}, and {} are free at {}.",
                                    counted(trials.size(), "trial"), text(disk), text(machine.free_disk_bytes),
                                    reporting::visible(root.string())));
    return lines;
}

}  // namespace deft::sweeps
