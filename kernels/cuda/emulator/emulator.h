#pragma once
// Runs CUDA kernels on one thread of the host: blocks one after another, a block's threads as fibers that run until
// they wait for each other. Wrong use of barriers, lanes and shared memory is an exception; data races are found by
// ThreadSanitizer, to which every thread of a block is a thread.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <string>

namespace deft::kernels::cuda::emulator {

// Behaviour that a device leaves undefined: the text names kernel, block, and the lines of source.
class Misuse : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

// Runs body once a thread. Throws Misuse, or what body threw; the launch ends there.
void run(const char* kernel, std::int64_t blocks, int threads, std::size_t shared_bytes,
         const std::function<void()>& body);

// The order of blocks, and of threads that could go on. The same seed and launches give the same run.
struct Schedule {
    bool shuffled = true;  // otherwise in the order of their numbers
    std::uint64_t seed = 1;
    bool last_block_first = false;  // where not shuffled
};
void set_schedule(const Schedule&);

// A __syncthreads, __syncwarp or __threadfence in the source, by its path in the tree.
struct Barrier {
    std::string file;
    int line = 0;
    auto operator<=>(const Barrier&) const = default;
    std::string text() const { return file + ":" + std::to_string(line); }
};

// That barrier does nothing from here on: tests prove so that they would see it missing.
void skip_barrier(const Barrier&);
void skip_no_barrier();

struct KernelRecord {
    std::int64_t launches = 0, blocks = 0, threads = 0;
    std::int64_t schedules = 0;    // calls of set_schedule after which the kernel was launched
    std::set<Barrier> barriers;    // that were passed
    std::size_t shared_bytes = 0;  // of a block, static and dynamic: the most
    // 8 x 8 matrices read from shared memory by ldmatrix, and how many more accesses than one each they took.
    std::int64_t matrices = 0, bank_conflicts = 0;
};
// Kernels run since the start or forget_kernels, by name.
std::map<std::string, KernelRecord> kernels_run();
void forget_kernels();

// Sets the clock that events read from here on; empty: the host's clock.
void set_clock(std::function<double()> seconds);
// The cache size that the device reports. It has no cache, and flushing this size is fast.
inline constexpr std::int64_t kCacheBytes = 64 << 10;

// Ends the launch with a Misuse.
[[noreturn]] void misaligned_access(const void* address, std::size_t bytes);

// The running thread's place.
unsigned thread_index();
unsigned block_index();
unsigned threads_of_block();
unsigned blocks_of_grid();

}  // namespace deft::kernels::cuda::emulator
