#pragma once
// Where trials run: one at a time in each slot.

#include <cstdint>
#include <string>
#include <vector>

#include "engine/core/backend.h"
#include "experiments/projection.h"
#include "results_db/rows.h"
#include "sweeps/spec/expand.h"
#include "sweeps/spec/slot_request.h"

namespace deft::sweeps {

struct Slot {
    engine::Device device = engine::Device::cpu;
    std::vector<std::string> gpu_uuids = {};  // a rank's each, in their order; empty on the CPU and on nodes
    std::string gpu_name = {};                // of the one with least memory
    std::int64_t memory_bytes = 0;            // of that GPU, what a rank here may plan; 0 on the CPU: not limited
    std::int64_t host_bytes = 0;              // a rank's share of this machine on the CPU; 0: not known
    int per_gpu = 1;
    int ranks = 1;  // processes of a trial here, each with all its threads
    int nodes = 1;  // that these ranks span, as many on each
};

// On the nodes of the request, each with these GPUs, or on this machine where it names none. "auto": a slot for as many
// GPUs as a trial has ranks, without one as many as the cores allow at `threads` each of every rank, at least one.
// Errors: missing, where fewer GPUs are visible than asked for, or than one trial needs, or where the nodes cannot hold
// the ranks of one.
std::vector<Slot> make_slots(const SlotRequest& request, int threads, const std::vector<engine::Gpu>& gpus,
                             const std::string& gpu_problem);
// On the GPUs of this machine, for these trials. Errors: missing, where several ranks cannot be started here.
std::vector<Slot> make_slots(const SlotRequest& request, int threads, const std::vector<Trial>& trials);

// Trials at once on each of these cards: as many of the largest as the smallest card holds, beside CUDA's own memory.
// Each rank needs a core of the machine. At least 1, and no more than the trials fill.
inline constexpr int kMostOnCard = 48;  // processes of a card that the multi-process service serves
int trials_on_card(const std::vector<Trial>& trials, const std::vector<engine::Gpu>& cards, int cores, int ranks = 1);

// "1 of 3 GPUs stays unused: a trial of 2 ranks takes 2"; empty where slots take all that were asked for.
std::string unused_gpus(const SlotRequest& request, std::size_t visible);
std::string unused_gpus(const SlotRequest& request);

// Threads of each trial on the CPU where nobody chose: one for all trials of a sweep, since wall times are compared
// between slots of one shape. Results are the same bits either way. `deft bench slots` measured that trials side by
// side train more at each of its sizes, 387 GFLOP a step the largest.
inline constexpr const char* kThreadsRule =
    "one thread a trial and as many trials at once as cores, unless a sweep has fewer trials, or more of the largest "
    "plan more than half of the memory; then all cores for one trial. Ranks share what a trial has.";
// `nodes`: machines of that many cores and that memory; a trial takes nodes_a_trial.
int default_threads(const std::vector<Trial>& trials, int cores, std::int64_t memory_bytes, int ranks = 1,
                    std::size_t nodes = 1, int nodes_a_trial = 1);
// `asked`, where it is not 0. Otherwise default_threads() where the number of slots is left to this machine and it has
// no GPU, and one thread where somebody chose that number.
int threads_for(int asked, const SlotRequest& request, const std::vector<Trial>& trials);

// Bytes by which train.recompute = "auto" chooses in the slot; 0: not known.
std::int64_t memory_limit(const Slot& slot);
// The trial with what "auto" chooses in the slot, and with the memory that one rank then plans on that device.
Trial with_recompute(Trial trial, const Slot& slot, engine::Device device);
// The slot for which the trials of a sweep are planned, with the memory of the device that it names, or as `deft run`
// would have it on this machine. Its memory is not known where that machine is not.
Slot planned_slot(const Spec& spec, const std::vector<Trial>& trials, bool is_queued);

// The memory that this work at the trial plans in the slot. Errors: config, naming the recipe, for experts that its
// ranks do not divide.
experiments::PlannedBytes planned_in(const Slot& slot, const Trial& trial,
                                     results_db::Work work = results_db::Work::train);
// Whether the buffers that are planned for that work at the trial fit the slot: those of each rank its GPU.
bool fits(const Trial& trial, const Slot& slot, results_db::Work work = results_db::Work::train);
// Errors: config, where the slots' device lacks the trial's dtype or head size, or their ranks do not divide the rows
// of each of its steps; memory, where its buffers fit none.
void require_fit(const Trial& trial, const std::vector<Slot>& slots, results_db::Work work = results_db::Work::train);

// "2 slots of 1 thread", "1 slot of 2 ranks of 1 thread", "1 slot of 2 ranks on NVIDIA H200".
std::string describe_slots(const std::vector<Slot>& slots, int threads);

// The share of the machine that a trial in the slot holds.
results_db::Shape shape_of(const Slot& slot, int threads);
// Devices that a trial pays for: the threads of all its ranks, or its share of their GPUs.
double devices_a_trial(const Slot& slot, int threads);

}  // namespace deft::sweeps
