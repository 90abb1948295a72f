#include "sweeps/driver/slots.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/error.h"
#include "base/text.h"
#include "base/usable_machine.h"
#include "engine/comm/communicator.h"
#include "experiments/engine_config.h"
#include "kernels/ceil_div.h"
#include "sweeps/driver/mpirun.h"
#include "sweeps/driver/rank_nodes.h"

namespace deft::sweeps {

namespace {

// Memory of a card that the driver, the runtime and its libraries take beside a trial's own buffers.
constexpr std::int64_t kContextBytes = std::int64_t{768} << 20;

// Memory of a machine that a process on the CPU takes beside its buffers.
constexpr std::int64_t kProcessBytes = std::int64_t{256} << 20;

constexpr int kJobsAtOnce = 8;  // in the queue of a batch system, where nobody states it

std::int64_t share_of_card(std::int64_t memory_bytes, int per_gpu) {
    return std::max<std::int64_t>(1, memory_bytes / per_gpu - kContextBytes);
}

std::int64_t share_of_host(std::int64_t memory_bytes, int processes) {
    return std::max<std::int64_t>(1, memory_bytes / processes - kProcessBytes);
}

// A slot on these cards, one a rank.
Slot slot_on(std::span<const engine::Gpu> cards, int per_gpu) {
    const auto least = std::min_element(cards.begin(), cards.end(), [](const engine::Gpu& a, const engine::Gpu& b) {
        return a.memory_bytes < b.memory_bytes;
    });
    Slot slot;
    slot.device = engine::Device::cuda;
    for (const engine::Gpu& card : cards) slot.gpu_uuids.push_back(card.uuid);
    slot.gpu_name = least->name;
    slot.memory_bytes = share_of_card(least->memory_bytes, per_gpu);
    slot.per_gpu = per_gpu;
    slot.ranks = static_cast<int>(cards.size());
    return slot;
}

std::vector<Slot> gpu_slots(std::span<const engine::Gpu> cards, int per_gpu, int ranks) {
    const auto of_trial = static_cast<std::size_t>(ranks);
    std::vector<Slot> slots;
    // Every card gets its first trial before any gets its second.
    for (int turn = 0; turn < per_gpu; ++turn)
        for (std::size_t first = 0; first + of_trial <= cards.size(); first += of_trial)
            slots.push_back(slot_on(cards.subspan(first, of_trial), per_gpu));
    return slots;
}

bool is_on_gpus(const SlotRequest& request, std::size_t visible) {
    return request.where == SlotRequest::Where::gpu || (request.where == SlotRequest::Where::automatic && visible > 0);
}

// The ranks of a trial on one machine have their cores there.
int trials_at_once(const SlotRequest& request, int threads) {
    const int cores_of_node = std::max(1, threads) * request.ranks_of_node();
    if (request.node_cores.empty()) return usable_cores() / cores_of_node;
    return trials_on_nodes(request.node_cores, cores_of_node, request.nodes_of_trial());
}

// Machines that nobody here has seen: memory is not known, so it limits nothing. Errors: usage, for cards that trials
// share.
std::vector<Slot> queued_slots(const SlotRequest& request) {
    if (request.per_gpu != 1)
        throw Error(ErrorKind::usage, "Slurm gives each job cards of its own, so trials cannot share one",
                    "use gpu:N for N jobs at once, or --launcher local", "nothing was submitted");
    Slot slot;
    slot.ranks = request.ranks;
    slot.nodes = request.nodes_of_trial();
    if (request.where == SlotRequest::Where::gpu) slot.device = engine::Device::cuda;
    const int count = request.count > 0 ? request.count : kJobsAtOnce * request.trials_of_job;
    return std::vector<Slot>(static_cast<std::size_t>(count), slot);
}

// On nodes that each have such cards; Slurm gives each trial its own. Errors: usage, for cards that trials share;
// missing, for more ranks of a trial on a node than it has cards.
std::vector<Slot> node_gpu_slots(const SlotRequest& request, std::span<const engine::Gpu> cards) {
    if (request.per_gpu != 1)
        throw Error(ErrorKind::usage, "Slurm gives each step cards of its own, so trials cannot share one",
                    "use gpu:N, or --launcher local", "nothing was started");
    const auto of_node = static_cast<std::size_t>(request.ranks_of_node());
    if (of_node > cards.size())
        throw Error(ErrorKind::missing,
                    fmt::format("{} ranks of a trial need a GPU each, and a node has {}", of_node, cards.size()),
                    fmt::format("use {} = {}, or nodes with more GPUs",
                                request.ranks_per_node == 0 ? "ranks" : "ranks_per_node", cards.size()),
                    "nothing was started");
    std::size_t count =
        cards.size() / of_node * request.node_cores.size() / static_cast<std::size_t>(request.nodes_of_trial());
    if (request.count > 0) count = std::min(count, static_cast<std::size_t>(request.count / request.ranks));
    Slot slot = slot_on(cards.first(of_node), 1);
    slot.ranks = request.ranks;
    slot.nodes = request.nodes_of_trial();
    slot.gpu_uuids.clear();
    return std::vector<Slot>(std::max<std::size_t>(1, count), slot);
}

// One trial at a time, on hosts that each have such cards as this machine, or cards that nobody here has seen. Errors:
// missing, for more ranks of a trial on a host than cards here.
Slot slot_of_hosts(const SlotRequest& request, std::span<const engine::Gpu> cards) {
    Slot slot;
    const auto of_host = static_cast<std::size_t>(request.ranks_of_node());
    if (is_on_gpus(request, cards.size())) {
        if (!cards.empty() && of_host > cards.size())
            throw Error(ErrorKind::missing,
                        fmt::format("{} ranks on a host need a GPU each, and this one has {}", of_host, cards.size()),
                        fmt::format("use --ranks-per-node {}, or train on the CPU: --slots cpu:1", cards.size()),
                        "nothing was started");
        if (!cards.empty()) slot = slot_on(cards.first(of_host), 1);
        slot.device = engine::Device::cuda;
        slot.gpu_uuids.clear();
    }
    slot.ranks = request.ranks;
    slot.nodes = request.nodes_of_trial();
    return slot;
}

// Cards that are asked for; of those that are visible all, where no number is said.
std::size_t cards_of(const SlotRequest& request, std::size_t visible) {
    return request.count == 0 ? visible : static_cast<std::size_t>(request.count);
}

}  // namespace

std::vector<Slot> make_slots(const SlotRequest& request, int threads, const std::vector<engine::Gpu>& gpus,
                             const std::string& gpu_problem) {
    if (request.is_queued) return queued_slots(request);
    if (request.host_slots) return {slot_of_hosts(request, gpus)};
    if (request.nodes_of_trial() > 1) require_room_for_ranks(request, threads);
    if (!is_on_gpus(request, gpus.size())) {
        Slot on_cpu;
        on_cpu.ranks = request.ranks;
        on_cpu.nodes = request.nodes_of_trial();
        const int at_once =
            std::max(1, request.where == SlotRequest::Where::cpu ? request.count : trials_at_once(request, threads));
        if (request.node_cores.empty()) on_cpu.host_bytes = share_of_host(usable_memory(), at_once * request.ranks);
        return std::vector<Slot>(static_cast<std::size_t>(at_once), on_cpu);
    }
    if (!request.node_cores.empty() && !gpus.empty()) return node_gpu_slots(request, gpus);
    const std::size_t cards = cards_of(request, gpus.size());
    if (gpus.empty() || cards > gpus.size())
        throw Error(ErrorKind::missing,
                    gpus.empty() ? fmt::format("slots {} need a GPU: {}", request.text, gpu_problem)
                                 : fmt::format("slots {} need {} GPUs, and {} can be used here", request.text, cards,
                                               gpus.size()),
                    "use cpu slots, fewer GPUs, or see `deft doctor`");
    if (cards < static_cast<std::size_t>(request.ranks))
        throw Error(ErrorKind::missing,
                    fmt::format("{} ranks of a trial need a GPU each, and slots {} {} {}", request.ranks, request.text,
                                request.count == 0 ? "find" : "name", cards),
                    fmt::format("use ranks = {}, {}or train on the CPU: slots = \"cpu:1\"", cards,
                                cards < gpus.size() ? "more GPUs, " : ""),
                    "nothing was started");
    return gpu_slots(std::span(gpus).first(cards), request.per_gpu, request.ranks);
}

int trials_on_card(const std::vector<Trial>& trials, const std::vector<engine::Gpu>& cards, int cores, int ranks) {
    Slot card;
    card.ranks = ranks;
    card.device = engine::Device::cuda;
    std::int64_t largest = 1;
    for (const Trial& trial : trials)
        for (const results_db::Work work : {results_db::Work::train, results_db::Work::score})
            largest = std::max(largest, planned_in(card, trial, work).largest);
    const std::int64_t memory = std::ranges::min(cards, {}, &engine::Gpu::memory_bytes).memory_bytes;
    const auto count = static_cast<std::int64_t>(cards.size());
    const std::int64_t processes = ranks * static_cast<std::int64_t>(trials.size());
    const std::int64_t most = std::min({memory / (largest + kContextBytes), cores / count,
                                        kernels::ceil_div(processes, count), static_cast<std::int64_t>(kMostOnCard)});
    return static_cast<int>(std::max<std::int64_t>(1, most));
}

std::vector<Slot> make_slots(const SlotRequest& asked, int threads, const std::vector<Trial>& trials) {
    SlotRequest request = asked;
    if (request.nodes_of_trial() > 1 && !request.host_slots)
        require_ranks_on_nodes(request);
    else if (request.ranks > 1)
        require_mpirun();
    if (request.is_queued || request.where == SlotRequest::Where::cpu) return make_slots(request, threads, {}, "");
    const std::vector<engine::Gpu> gpus = engine::usable_gpus();
    const std::size_t cards = std::min(gpus.size(), cards_of(request, gpus.size()));
    if (request.per_gpu == 0 && cards > 0)
        request.per_gpu = trials_on_card(trials, {gpus.begin(), gpus.begin() + static_cast<std::ptrdiff_t>(cards)},
                                         usable_cores(), request.ranks);
    std::vector<Slot> slots = make_slots(request, threads, gpus, engine::gpu_problem());
    if (request.ranks > 1 && slots.front().device == engine::Device::cuda && !engine::Communicator::has_nccl())
        throw Error(
            ErrorKind::missing,
            fmt::format("{} ranks on GPUs need NCCL, which this deft was built without", request.ranks),
            "install NCCL or set NCCL_ROOT and build again, use ranks = 1, or train on the CPU: slots = \"cpu:1\"",
            "nothing was started");
    return slots;
}

std::string unused_gpus(const SlotRequest& request, std::size_t visible) {
    if (!is_on_gpus(request, visible)) return "";
    const std::size_t cards = cards_of(request, visible), unused = cards % static_cast<std::size_t>(request.ranks);
    if (unused == 0) return "";
    return fmt::format("{} of {} stay{} unused: a trial of {} takes {}", unused, counted(cards, "GPU"),
                       unused == 1 ? "s" : "", counted(request.ranks, "rank"), request.ranks);
}

std::string unused_gpus(const SlotRequest& request) {
    return request.ranks == 1 ? "" : unused_gpus(request, engine::usable_gpus().size());
}

int default_threads(const std::vector<Trial>& trials, int cores, std::int64_t memory_bytes, int ranks,
                    std::size_t nodes, int nodes_a_trial) {
    const int at_once = std::max(1, cores / (ranks / nodes_a_trial));  // on a node, of one thread a rank
    const std::size_t places = nodes * static_cast<std::size_t>(at_once) / static_cast<std::size_t>(nodes_a_trial);
    std::int64_t largest = 0;
    Slot on_cpu;
    on_cpu.ranks = ranks;
    if (nodes == 1) on_cpu.host_bytes = share_of_host(memory_bytes, at_once * ranks);
    for (const Trial& trial : trials) largest = std::max(largest, planned_in(on_cpu, trial).all);
    const bool fits_side_by_side = largest / nodes_a_trial <= memory_bytes / 2 / at_once;
    return trials.size() >= places && fits_side_by_side ? 1 : at_once;
}

int threads_for(int asked, const SlotRequest& request, const std::vector<Trial>& trials) {
    if (asked > 0) return asked;
    if (request.is_queued || request.where != SlotRequest::Where::automatic || !engine::usable_gpus().empty()) return 1;
    if (request.host_slots) {
        const int cores = *request.host_slots > 0 ? *request.host_slots : usable_cores();
        return std::max(1, cores / request.ranks_of_node());
    }
    if (request.node_cores.empty()) return default_threads(trials, usable_cores(), usable_memory(), request.ranks);
    return default_threads(trials, std::ranges::min(request.node_cores), usable_memory(), request.ranks,
                           request.node_cores.size(), request.nodes_of_trial());
}

std::int64_t memory_limit(const Slot& slot) {
    return slot.device == engine::Device::cpu ? slot.host_bytes : slot.memory_bytes;
}

Trial with_recompute(Trial trial, const Slot& slot, engine::Device device) {
    experiments::RecomputeChoice& recompute = trial.config.train.recompute;
    if (recompute != experiments::RecomputeChoice::automatic) return trial;
    recompute = experiments::chosen_recompute(trial.config, slot.device, slot.ranks, memory_limit(slot));
    trial.projection.memory_bytes = experiments::planned_alone(trial.config, device);
    return trial;
}

Slot planned_slot(const Spec& spec, const std::vector<Trial>& trials, bool is_queued) {
    Slot slot;
    slot.device = planned_device(spec, trials.front().config);
    slot.ranks = spec.ranks;
    if (spec.ranks_per_node > 0) slot.nodes = spec.ranks / spec.ranks_per_node;
    const bool chooses = std::ranges::any_of(trials, [](const Trial& trial) {
        return trial.config.train.recompute == experiments::RecomputeChoice::automatic;
    });
    if (!chooses || is_queued || slot.nodes > 1) return slot;
    SlotRequest request = parse_slots(spec.slots);
    request.ranks = spec.ranks;
    if (!spec.hostfile.empty()) request.host_slots = 0;
    if (spec.device) {
        const std::int64_t memory = spec.device->device.memory_bytes;
        if (memory > 0) slot.memory_bytes = slot.host_bytes = share_of_card(memory, std::max(1, request.per_gpu));
        return slot;
    }
    try {
        const Slot here = make_slots(request, threads_for(spec.threads, request, trials), trials).front();
        if (here.device == engine::Device::cuda || slot.device == engine::Device::cpu) return here;
    } catch (const Error&) {
        // `deft run` reports what is missing.
    }
    return slot;
}

experiments::PlannedBytes planned_in(const Slot& slot, const Trial& trial, results_db::Work work) {
    try {
        return work == results_db::Work::train
                   ? experiments::planned_bytes(trial.config, slot.device, slot.ranks, memory_limit(slot))
                   : experiments::planned_scoring_bytes(trial.config, slot.device, slot.ranks);
    } catch (const Error& error) {
        throw Error(error.kind(), fmt::format("recipe {}: {}", trial.recipe, error.what()));
    }
}

bool fits(const Trial& trial, const Slot& slot, results_db::Work work) {
    return slot.memory_bytes == 0 || planned_in(slot, trial, work).largest <= slot.memory_bytes;
}

void require_fit(const Trial& trial, const std::vector<Slot>& slots, results_db::Work work) {
    const experiments::ModelConfig& model = trial.config.model;
    try {
        engine::require_supported(experiments::backend_of(trial.config, slots.front().device, 1),
                                  model.width / model.heads);
        if (work == results_db::Work::train) experiments::require_ranks(trial.config, slots.front().ranks);
    } catch (const Error& error) {
        throw Error(error.kind(), fmt::format("recipe {}: {}", trial.recipe, error.what()));
    }
    if (std::any_of(slots.begin(), slots.end(), [&](const Slot& slot) { return fits(trial, slot, work); })) return;
    const auto largest = std::max_element(slots.begin(), slots.end(),
                                          [](const Slot& a, const Slot& b) { return a.memory_bytes < b.memory_bytes; });
    const auto gib = [](std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 30); };
    throw Error(ErrorKind::memory,
                fmt::format("recipe {} plans {:.1f} GiB{}, and the largest worker has {:.1f} GiB ({}{})", trial.recipe,
                            gib(planned_in(*largest, trial, work).largest), largest->ranks == 1 ? "" : " on a rank",
                            gib(largest->memory_bytes), largest->gpu_name,
                            largest->per_gpu == 1 ? "" : fmt::format(", shared by {} trials", largest->per_gpu)),
                "lower train.micro_batch_size (`deft plan --memory` shows each buffer), put fewer trials on a card, or "
                "use cpu slots",
                "nothing was started");
}

std::string describe_slots(const std::vector<Slot>& slots, int threads) {
    const std::string count = counted(slots.size(), "worker");
    const int ranks = slots.front().ranks;
    const int nodes = slots.front().nodes;
    const std::string of_ranks =
        ranks == 1 ? ""
                   : fmt::format(" of {}{}", counted(ranks, "rank"),
                                 nodes == 1 ? "" : fmt::format(" ({} on each of {} nodes)", ranks / nodes, nodes));
    if (slots.front().device == engine::Device::cpu)
        return fmt::format("{}{} of {}", count, of_ranks, counted(threads, "thread"));
    const std::string share = slots.front().per_gpu == 1 ? "" : fmt::format(", {} a card", slots.front().per_gpu);
    return fmt::format("{}{} on {}{}", count, of_ranks, slots.front().gpu_name, share);
}

results_db::Shape shape_of(const Slot& slot, int threads) {
    const int of_rank = slot.device == engine::Device::cpu ? threads : 1;
    return {engine::device_name(slot.device), slot.ranks * of_rank, slot.per_gpu, slot.ranks};
}

double devices_a_trial(const Slot& slot, int threads) {
    const results_db::Shape shape = shape_of(slot, threads);
    return static_cast<double>(shape.devices) / static_cast<double>(shape.trials_per_device);
}

}  // namespace deft::sweeps
