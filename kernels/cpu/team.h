#pragma once
// The threads of CPU kernels: a caller and its workers share the blocks of a job, and a thread without blocks takes
// some of another's. Nobody waits for a worker that has no block, so a competing process that takes a processor delays
// at most the block that runs there.

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace deft::kernels::cpu {

class Team {
 public:
    // task(body, begin, end, thread): items [begin, end) of a job on one of its threads, in [0, threads).
    using Task = void (*)(const void* body, std::int64_t begin, std::int64_t end, int thread);

    Team() = default;
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    // Runs a body over items [0, items) on up to `threads` threads, the caller among them. Returns when all items are
    // done, and throws the first exception of any thread. Starts the workers that are missing. A job that begins inside
    // of another one runs on its caller alone, as thread 0.
    void run(int threads, std::int64_t items, Task task, const void* body);

    // The team of the calling thread; it ends with that thread.
    static Team& of_this_thread();

 private:
    // The blocks that a thread has left, in one word: the job's tag, the first block and the end. One exchange takes a
    // block, and takes none of a job that is over.
    struct alignas(64) Share {
        std::atomic<std::uint64_t> word{0};
    };
    struct Job {
        Task task = nullptr;
        const void* body = nullptr;
        std::int64_t items = 0, blocks = 0;
    };

    void start_workers(int count);
    void end_workers();
    void work(int thread);
    std::uint32_t take_part(std::uint32_t tag, int threads, int thread);
    void run_block(std::int64_t block, int thread);

    alignas(64) std::atomic<std::uint32_t> begun_{0};  // jobs so far, the newest one's tag; idle workers sleep on it
    std::atomic<int> threads_{0};                      // of the newest job
    std::atomic<bool> is_ending_{false};
    alignas(64) std::atomic<std::uint32_t> unfinished_{0};  // blocks of the newest job; its caller sleeps on it
    Job job_;                          // written when unfinished_ is 0, read by threads that have taken a block
    std::unique_ptr<Share[]> shares_;  // (workers + 1)
    std::vector<std::thread> workers_;
    bool spins_ = true;  // false where threads outnumber processors
    int process_ = 0;    // that started the workers: a forked child has none of them
    std::mutex failure_lock_;
    std::exception_ptr failure_;
};

}  // namespace deft::kernels::cpu
