#include "kernels/cpu/team.h"

#include <immintrin.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "kernels/cpu/worker_scope.h"

namespace deft::kernels::cpu {

namespace {

// Blocks of a thread: enough to share what a late thread leaves, few enough that taking one costs nothing.
constexpr std::int64_t kBlocksPerThread = 64;
// Covers the gaps between the jobs of a step; a longer wait sleeps, which gives the processor to a thread that has
// work.
constexpr auto kSpin = std::chrono::microseconds(30);

constexpr int kBits = 16;  // of a block's number
constexpr std::uint64_t kMask = (std::uint64_t{1} << kBits) - 1;

std::uint64_t word_of(std::uint32_t tag, std::uint64_t begin, std::uint64_t end) {
    return std::uint64_t{tag} << (2 * kBits) | begin << kBits | end;
}

// Takes the first block of one's own share, the last of another's: the owner's blocks stay next to each other.
std::optional<std::int64_t> take_block(std::atomic<std::uint64_t>& share, std::uint32_t tag, bool is_own) {
    std::uint64_t word = share.load(std::memory_order_relaxed);
    for (;;) {
        const std::uint64_t begin = word >> kBits & kMask, end = word & kMask;
        if (word >> (2 * kBits) != tag || begin >= end) return std::nullopt;
        const std::uint64_t rest = is_own ? word_of(tag, begin + 1, end) : word_of(tag, begin, end - 1);
        if (share.compare_exchange_weak(word, rest, std::memory_order_acquire, std::memory_order_relaxed))
            return static_cast<std::int64_t>(is_own ? begin : end - 1);
    }
}

// Whether it became true while spinning.
template <class Condition>
bool spin_until(const Condition& condition) {
    const auto end = std::chrono::steady_clock::now() + kSpin;
    do {
        for (int i = 0; i < 16; ++i) {
            if (condition()) return true;
            _mm_pause();
        }
    } while (std::chrono::steady_clock::now() < end);
    return condition();
}

// Whether this thread runs blocks: a job that begins inside of them runs on this thread alone.
thread_local bool is_in_job = false;

int available_processors() {
    cpu_set_t set;
    if (::sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

}  // namespace

Team::~Team() {
    end_workers();
}

Team& Team::of_this_thread() {
    thread_local Team team;
    return team;
}

void Team::start_workers(int count) {
    if (std::ssize(workers_) >= count && process_ == ::getpid()) return;
    end_workers();
    shares_ = std::make_unique<Share[]>(static_cast<std::size_t>(count + 1));
    spins_ = count < available_processors();
    process_ = ::getpid();
    for (int thread = 1; thread <= count; ++thread) workers_.emplace_back([this, thread] { work(thread); });
}

void Team::end_workers() {
    is_ending_ = true;
    begun_.fetch_add(1, std::memory_order_release);
    begun_.notify_all();
    for (std::thread& worker : workers_)
        if (process_ == ::getpid())
            worker.join();
        else
            worker.detach();
    workers_.clear();
    is_ending_ = false;
}

void Team::work(int thread) {
    const WorkerScope scope;
    is_in_job = true;
    std::uint32_t seen = begun_.load(std::memory_order_acquire);
    while (!is_ending_) {
        const int threads = threads_.load(std::memory_order_relaxed);
        if (const std::uint32_t done = thread < threads ? take_part(seen, threads, thread) : 0; done > 0)
            if (unfinished_.fetch_sub(done, std::memory_order_acq_rel) == done) unfinished_.notify_one();
        const auto is_new = [&] { return begun_.load(std::memory_order_acquire) != seen; };
        if (!(spins_ && spin_until(is_new))) begun_.wait(seen, std::memory_order_acquire);
        seen = begun_.load(std::memory_order_acquire);
    }
}

// Returns how many blocks it ran.
std::uint32_t Team::take_part(std::uint32_t tag, int threads, int thread) {
    std::uint32_t done = 0;
    for (int i = 0; i < threads; ++i) {
        Share& share = shares_[static_cast<std::size_t>((thread + i) % threads)];
        while (const std::optional<std::int64_t> block = take_block(share.word, tag, i == 0)) {
            run_block(*block, thread);
            ++done;
        }
    }
    return done;
}

void Team::run_block(std::int64_t block, int thread) {
    try {
        job_.task(job_.body, job_.items * block / job_.blocks, job_.items * (block + 1) / job_.blocks, thread);
    } catch (...) {
        const std::lock_guard lock(failure_lock_);
        if (!failure_) failure_ = std::current_exception();
    }
}

void Team::run(int threads, std::int64_t items, Task task, const void* body) {
    if (is_in_job) return task(body, 0, items, 0);
    start_workers(threads - 1);
    const std::int64_t blocks = std::min({items, kBlocksPerThread * threads, static_cast<std::int64_t>(kMask)});
    job_ = {task, body, items, blocks};
    unfinished_.store(static_cast<std::uint32_t>(blocks), std::memory_order_relaxed);
    threads_.store(threads, std::memory_order_relaxed);
    const std::uint32_t tag = begun_.load(std::memory_order_relaxed) + 1;
    for (std::int64_t thread = 0; thread < threads; ++thread)
        shares_[static_cast<std::size_t>(thread)].word.store(
            word_of(tag, static_cast<std::uint64_t>(blocks * thread / threads),
                    static_cast<std::uint64_t>(blocks * (thread + 1) / threads)),
            std::memory_order_release);
    begun_.store(tag);  // sequentially consistent: a worker that goes to sleep sees it, or is woken
    begun_.notify_all();

    is_in_job = true;
    const std::uint32_t done = take_part(tag, threads, 0);
    is_in_job = false;
    std::uint32_t left = unfinished_.fetch_sub(done, std::memory_order_acq_rel) - done;
    const auto is_done = [&] { return (left = unfinished_.load(std::memory_order_acquire)) == 0; };
    if (left > 0 && !(spins_ && spin_until(is_done)))
        while (!is_done()) unfinished_.wait(left, std::memory_order_acquire);
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace deft::kernels::cpu
