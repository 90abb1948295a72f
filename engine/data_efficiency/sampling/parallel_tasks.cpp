#include "engine/data_efficiency/sampling/parallel_tasks.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace deft::engine {

void run_tasks(int threads, std::int64_t tasks, const std::function<void(int, std::int64_t)>& task) {
    std::atomic<std::int64_t> next{0};
    std::mutex mutex;
    std::exception_ptr error;
    const auto work = [&](int thread) {
        try {
            for (std::int64_t i; (i = next.fetch_add(1)) < tasks;) task(thread, i);
        } catch (...) {
            next = tasks;
            const std::lock_guard lock(mutex);
            if (!error) error = std::current_exception();
        }
    };
    {
        std::vector<std::jthread> others;
        const std::int64_t team = std::min<std::int64_t>(threads, tasks);
        for (int thread = 1; thread < team; ++thread) others.emplace_back(work, thread);
        work(0);
    }
    if (error) std::rethrow_exception(error);
}

}  // namespace deft::engine
