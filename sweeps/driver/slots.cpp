#include "sweeps/driver/slots.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "base/error.h"
#include "base/text.h"
#include "experiments/engine_config.h"
#include "experiments/projection.h"
#include "sweeps/driver/mpirun.h"

namespace deft::sweeps {

namespace {

// What the driver, the runtime and its libraries take of a card beside a trial's own buffers.
constexpr std::int64_t kContextBytes = std::int64_t{768} << 20;

std::vector<Slot> gpu_slots(const std::vector<engine::Gpu>& gpus, std::size_t cards, int per_gpu) {
    std::vector<Slot> slots;
    // Every card gets its first trial before any gets its second.
    for (int turn = 0; turn < per_gpu; ++turn)
        for (std::size_t i = 0; i < cards; ++i)
            slots.push_back({engine::Device::cuda, gpus[i].uuid, gpus[i].name,
                             std::max<std::int64_t>(1, gpus[i].memory_bytes / per_gpu - kContextBytes), per_gpu});
    return slots;
}

}  // namespace

std::int64_t memory_here() {
    return static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::int64_t>(::sysconf(_SC_PAGESIZE));
}

int usable_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
    return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

std::vector<Slot> make_slots(const SlotRequest& request, int threads, const std::vector<engine::Gpu>& gpus,
                             const std::string& gpu_problem) {
    using Where = SlotRequest::Where;
    if (request.ranks > 1 && (request.where == Where::gpu || (request.where == Where::automatic && !gpus.empty())))
        throw Error(ErrorKind::config, fmt::format("{} ranks are asked for on GPUs, and several ranks train on the CPU alone", request.ranks),
                    "use ranks = 1, or slots = \"cpu:1\"", "nothing was started");
    if (request.where == Where::automatic && !gpus.empty()) return gpu_slots(gpus, gpus.size(), 1);
    Slot on_cpu;
    on_cpu.ranks = request.ranks;
    if (request.where == Where::automatic)
        return std::vector<Slot>(static_cast<std::size_t>(std::max(1, usable_cores() / (std::max(1, threads) * request.ranks))), on_cpu);
    if (request.where == Where::cpu) return std::vector<Slot>(static_cast<std::size_t>(request.count), on_cpu);
    const std::size_t cards = request.count == 0 ? gpus.size() : static_cast<std::size_t>(request.count);
    if (gpus.empty() || cards > gpus.size())
        throw Error(ErrorKind::missing,
                    gpus.empty() ? fmt::format("slots {} need a GPU: {}", request.text, gpu_problem)
                                 : fmt::format("slots {} need {} GPUs, and {} can be used here", request.text, cards,
                                               gpus.size()),
                    "use cpu slots, fewer GPUs, or see `deft doctor`");
    return gpu_slots(gpus, cards, request.per_gpu);
}

std::vector<Slot> make_slots(const SlotRequest& request, int threads) {
    if (request.ranks > 1) require_mpirun();
    if (request.where == SlotRequest::Where::cpu) return make_slots(request, threads, {}, "");
    return make_slots(request, threads, engine::usable_gpus(), engine::gpu_problem());
}

int default_threads(const std::vector<Point>& points, int cores, std::int64_t memory_bytes, int ranks) {
    const int at_once = std::max(1, cores / ranks);  // trials of one thread a rank
    std::int64_t largest = 0;
    for (const Point& point : points)
        largest = std::max(largest, experiments::planned_bytes(point.config, engine::Device::cpu));
    const bool fits_side_by_side = largest <= memory_bytes / 2 / (at_once * ranks);
    return points.size() >= static_cast<std::size_t>(at_once) && fits_side_by_side ? 1 : at_once;
}

int threads_for(int asked, const SlotRequest& request, const std::vector<Point>& points) {
    if (asked > 0) return asked;
    if (request.where != SlotRequest::Where::automatic || !engine::usable_gpus().empty()) return 1;
    return default_threads(points, usable_cores(), memory_here(), request.ranks);
}

namespace {

std::int64_t planned(const Point& point, engine::Device device, results_db::Work work) {
    return work == results_db::Work::train ? experiments::planned_bytes(point.config, device)
                                           : experiments::planned_scoring_bytes(point.config, device);
}

}  // namespace

bool fits(const Point& point, const Slot& slot, results_db::Work work) {
    return slot.memory_bytes == 0 || planned(point, slot.device, work) <= slot.memory_bytes;
}

void require_fit(const Point& point, const std::vector<Slot>& slots, results_db::Work work) {
    const experiments::ModelConfig& model = point.config.model;
    try {
        engine::require_supported(experiments::backend_of(point.config, slots.front().device, 1), model.width / model.heads);
        if (work == results_db::Work::train) experiments::require_ranks(point.config, slots.front().ranks);
    } catch (const Error& error) {
        throw Error(error.kind(), fmt::format("case {}: {}", point.case_name, error.what()));
    }
    if (std::any_of(slots.begin(), slots.end(), [&](const Slot& slot) { return fits(point, slot, work); })) return;
    const auto largest = std::max_element(slots.begin(), slots.end(), [](const Slot& a, const Slot& b) {
        return a.memory_bytes < b.memory_bytes;
    });
    const auto gib = [](std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 30); };
    throw Error(ErrorKind::memory,
                fmt::format("case {} plans {:.1f} GiB, and the largest slot has {:.1f} GiB ({}{})", point.case_name,
                            gib(planned(point, largest->device, work)),
                            gib(largest->memory_bytes), largest->gpu_name,
                            largest->per_gpu == 1 ? "" : fmt::format(", shared by {} trials", largest->per_gpu)),
                "lower train.micro_batch_size (`deft plan --memory` shows each buffer), put fewer trials on a card, or "
                "use cpu slots",
                "nothing was started");
}

std::string describe_slots(const std::vector<Slot>& slots, int threads) {
    const std::string count = counted(slots.size(), "slot");
    const int ranks = slots.front().ranks;
    const std::string of_ranks = ranks == 1 ? "" : fmt::format(" of {}", counted(ranks, "rank"));
    if (slots.front().device == engine::Device::cpu)
        return fmt::format("{}{} of {}", count, of_ranks, counted(threads, "thread"));
    const std::string share = slots.front().per_gpu == 1 ? "" : fmt::format(", {} a card", slots.front().per_gpu);
    return fmt::format("{} on {}{}", count, slots.front().gpu_name, share);
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
