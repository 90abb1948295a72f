#pragma once
// Independent tasks on several threads, whose first error comes back to the caller.

#include <cstdint>
#include <functional>

namespace deft::engine {

// Calls task(thread, i) for every i of 0 .. tasks - 1, each once, in any order; `thread` is below `threads`. After an
// error no new task begins. Errors: those of the tasks.
void run_tasks(int threads, std::int64_t tasks, const std::function<void(int thread, std::int64_t i)>& task);

}  // namespace deft::engine
