#pragma once
// The one way kernels use threads: independent items. Which thread takes an item never changes its result.

#include <algorithm>
#include <cstdint>

#include "kernels/ceil_div.h"
#include "kernels/cpu/team.h"
#include "kernels/cpu/worker_scope.h"

namespace deft::kernels::cpu {

// body(item, thread) for every item in [0, items), on threads of that team. The first exception of any thread is thrown
// again here.
template <class Body>
void parallel_items(Team& team, int threads, std::int64_t items, const Body& body) {
    const auto run = [](const void* context, std::int64_t begin, std::int64_t end, int thread) {
        const Body& of_item = *static_cast<const Body*>(context);
        for (std::int64_t item = begin; item < end; ++item) of_item(item, thread);
    };
    const WorkerScope scope;
    const int working = static_cast<int>(std::min<std::int64_t>(threads, items));
    if (working <= 1)
        run(&body, 0, items, 0);
    else
        team.run(working, items, run, &body);
}

// On the team of the calling thread.
template <class Body>
void parallel_items(int threads, std::int64_t items, const Body& body) {
    parallel_items(Team::of_this_thread(), threads, items, body);
}

}  // namespace deft::kernels::cpu
