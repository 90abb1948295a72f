#include "kernels/cuda/emulator/emulator.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>

#include "kernels/cuda/emulator/allocations.h"
#include "kernels/cuda/emulator/block.h"
#include "kernels/cuda/emulator/faults.h"
#include "kernels/cuda/emulator/sanitizers.h"

namespace deft::kernels::cuda::emulator {

namespace {

// The one device: kernels find their place through it, having no argument that could name another.
struct Device {
    std::mutex mutex;  // of everything here but `block`
    Schedule schedule;
    std::mt19937_64 random{1};
    std::int64_t schedule_number = 1;
    std::map<std::string, KernelRecord> kernels;
    std::map<std::string, std::int64_t> last_schedule;  // of each kernel
    std::unique_ptr<FiberPool> fibers = std::make_unique<FiberPool>();
    Block* block = nullptr;
    std::optional<Barrier> skipped;
};

Device& device() {
    static Device the_device;
    return the_device;
}

void check_shape(const char* kernel, std::int64_t blocks, int threads) {
    const auto refuse = [&](const std::string& what) { throw Misuse(fmt::format("kernel {}: {}", kernel, what)); };
    if (blocks < 1 || blocks > std::numeric_limits<std::int32_t>::max()) refuse(fmt::format("{} blocks", blocks));
    if (threads < 1 || threads > 1024) refuse(fmt::format("{} threads a block", threads));
}

std::vector<unsigned> block_order(Device& d, unsigned blocks) {
    std::vector<unsigned> order(blocks);
    std::iota(order.begin(), order.end(), 0u);
    if (d.schedule.shuffled)
        for (unsigned i = blocks; i > 1; --i) std::swap(order[i - 1], order[d.random() % i]);
    else if (d.schedule.last_block_first)
        std::reverse(order.begin(), order.end());
    return order;
}

// The fibers of a launch's nth block. To ThreadSanitizer nothing orders the blocks of a launch, unless they use the
// same fibers: it gets as many as it can bear, which hides races between blocks that are far apart in a large launch.
std::size_t first_fiber(std::size_t nth, std::size_t threads) {
    constexpr std::size_t kMostFibers = 768;
    const std::size_t blocks_at_once = tsan::active() ? kMostFibers / threads : 1;
    return nth % blocks_at_once * threads;
}

class Running {
 public:
    Running(Device& d, Block& block) : device_(d) { d.block = &block; }
    ~Running() { device_.block = nullptr; }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

 private:
    Device& device_;
};

void record_launch(Device& d, const Grid& grid) {
    KernelRecord& record = d.kernels[grid.kernel];
    ++record.launches;
    record.blocks += grid.blocks;
    record.threads += std::int64_t{grid.blocks} * grid.threads;
    if (std::exchange(d.last_schedule[grid.kernel], d.schedule_number) != d.schedule_number) ++record.schedules;
}

// The most shared memory that a block used.
std::size_t run_blocks(Device& d, const Grid& grid, PassedBarriers& passed) {
    std::size_t shared_bytes = 0;
    const FaultTrap trap;
    std::uint64_t end_tag = 0;
    std::size_t nth = 0;
    for (const unsigned index : block_order(d, grid.blocks)) {
        Block block(grid, index, *d.fibers, first_fiber(nth++, grid.threads));
        const Running running(d, block);
        block.run(d.schedule.shuffled ? &d.random : nullptr, passed);
        block.release_to(&end_tag);
        KernelRecord& record = d.kernels[grid.kernel];
        record.matrices += block.matrices();
        record.bank_conflicts += block.bank_conflicts();
        shared_bytes = std::max(shared_bytes, block.shared().bytes());
    }
    tsan::acquire(&end_tag);
    if (const std::string damage = allocations().damage(); !damage.empty())
        throw Misuse(fmt::format("kernel {}: memory was written outside its buffers: {}", grid.kernel, damage));
    return shared_bytes;
}

}  // namespace

void run(const char* kernel, std::int64_t blocks, int threads, std::size_t shared_bytes,
         const std::function<void()>& body) {
    Device& d = device();
    if (d.block != nullptr) throw Misuse(fmt::format("kernel {} is launched by a kernel", kernel));
    check_shape(kernel, blocks, threads);
    const std::lock_guard lock(d.mutex);
    const Grid grid{kernel, static_cast<unsigned>(blocks), static_cast<unsigned>(threads), shared_bytes, body};
    record_launch(d, grid);
    PassedBarriers passed;
    try {
        std::size_t& most = d.kernels[kernel].shared_bytes;
        most = std::max(most, run_blocks(d, grid, passed));
    } catch (...) {
        d.fibers = std::make_unique<FiberPool>();  // some stopped in the middle
        throw;
    }
    for (const auto& [file, line] : passed)
        d.kernels[kernel].barriers.insert({tree_path(file), static_cast<int>(line)});
}

void set_schedule(const Schedule& schedule) {
    Device& d = device();
    const std::lock_guard lock(d.mutex);
    d.schedule = schedule;
    d.random.seed(schedule.seed);
    ++d.schedule_number;
}

void skip_barrier(const Barrier& barrier) {
    const std::lock_guard lock(device().mutex);
    device().skipped = barrier;
}

void skip_no_barrier() {
    const std::lock_guard lock(device().mutex);
    device().skipped.reset();
}

bool is_skipped(const std::source_location& site) {
    const std::optional<Barrier>& skipped = device().skipped;
    return skipped && static_cast<unsigned>(skipped->line) == site.line() &&
           skipped->file == tree_path(site.file_name());
}

std::map<std::string, KernelRecord> kernels_run() {
    const std::lock_guard lock(device().mutex);
    return device().kernels;
}

void forget_kernels() {
    const std::lock_guard lock(device().mutex);
    device().kernels.clear();
    device().last_schedule.clear();
}

Block* running_block() {
    return device().block;
}

}  // namespace deft::kernels::cuda::emulator
