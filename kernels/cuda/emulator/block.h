#pragma once
// One block that runs: its threads, and what each waits for.

#include <cstdint>
#include <exception>
#include <functional>
#include <random>
#include <set>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cuda/emulator/emulator.h"
#include "kernels/cuda/emulator/fiber.h"
#include "kernels/cuda/emulator/shared_memory.h"
#include "kernels/cuda/emulator/warp.h"

namespace deft::kernels::cuda::emulator {

enum class Wait : std::uint8_t { nothing, block_barrier, warp_barrier, fence, shuffle, ballot, collective, end };

struct Thread {
    Context context;
    Wait wait = Wait::nothing;
    std::source_location site;      // of the wait
    unsigned mask = 0;              // the lanes of a warp's operation
    int source = 0;                 // the lane that a shuffle reads
    std::uint64_t value = 0;        // brought to a shuffle or ballot
    std::uint64_t result = 0;       // and taken from it
    CollectiveWork work = nullptr;  // of a collective, whose operands are at the address `value`
    bool has_fenced = false;        // since its last count
    void* counted = nullptr;        // the counter of its last count, since its last fence
};

struct Grid {
    const char* kernel;
    unsigned blocks, threads;
    std::size_t shared_bytes;
    const std::function<void()>& body;
};

// File and line of barriers and fences that were passed; the same text may be there under two addresses.
using PassedBarriers = std::set<std::pair<const char*, unsigned>>;

class Block {
 public:
    // Its threads are the pool's fibers from first_fiber on.
    Block(const Grid&, unsigned index, FiberPool&, std::size_t first_fiber);
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    // Runs the threads to their end, in the order of their numbers where random is null. Throws Misuse, or what a
    // thread threw; the other threads' frames are then dropped as they are.
    void run(std::mt19937_64* random, PassedBarriers& passed);
    // To ThreadSanitizer, what the threads did happens before an acquire of the tag.
    void release_to(void* tag);

    const Grid& grid() const { return grid_; }
    unsigned index() const { return index_; }
    SharedMemory& shared() { return shared_; }
    // 8 x 8 matrices that were read from shared memory, and how many more accesses than one each they took.
    void count_matrices(std::int64_t matrices, std::int64_t conflicts) {
        matrices_ += matrices;
        bank_conflicts_ += conflicts;
    }
    std::int64_t matrices() const { return matrices_; }
    std::int64_t bank_conflicts() const { return bank_conflicts_; }
    [[noreturn]] void misuse(const std::string& what) const;

    // Whether the running thread's stack is there.
    bool runs_on(std::uintptr_t stack_pointer) const;

    // For the running thread.
    unsigned current() const { return current_; }
    [[noreturn]] void run_thread();
    // Ends the thread and the launch, with a Misuse that describes the address.
    [[noreturn]] void stop_at_fault(std::uintptr_t address, bool is_write);
    Thread& current_thread() { return threads_[current_]; }
    // Returns when those that it waits for are there; a shuffle's or ballot's result is then set.
    void wait(Wait, const std::source_location&);

 private:
    unsigned take_ready(std::mt19937_64* random);
    // Lets a group go on if `thread` is the last that it waited for.
    void arrived(unsigned thread, PassedBarriers& passed);
    bool all_lanes_wait(unsigned thread) const;
    void release(const std::vector<unsigned>& group, PassedBarriers& passed);
    void check_one_place(const std::vector<unsigned>& group) const;
    void exchange_values(const std::vector<unsigned>& group);
    void work_together(const std::vector<unsigned>& group);
    void order_memory(const std::vector<unsigned>& group);
    [[noreturn]] void report_stuck() const;

    const Grid& grid_;
    const unsigned index_;
    SharedMemory shared_;
    std::vector<Thread> threads_;
    std::vector<std::uint64_t> tags_;  // one a thread, for the groups whose first it is
    std::vector<unsigned> ready_;
    unsigned current_ = 0, at_block_barrier_ = 0, ended_ = 0;
    std::int64_t matrices_ = 0, bank_conflicts_ = 0;
    Context scheduler_;
    std::exception_ptr thrown_;
};

// The path as the compiler had it, without the way up from a build folder.
const char* tree_path(const char* file);

// The block that runs now, null between launches.
Block* running_block();
bool is_skipped(const std::source_location& barrier);

}  // namespace deft::kernels::cuda::emulator
