#pragma once
// The launches of a training step as CUDA graphs. A shape runs launch by launch at its first use, is recorded at its
// second, and starts with one call from then on. Work that is not on a GPU simply runs.

#include <array>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "engine/core/exec.h"
#include "kernels/cuda/product_log.h"

namespace deft::kernels::cuda {
class Graph;
}

namespace deft::engine {

// All that decides which kernels a part of a step launches, and with which arguments; unused places are 0.
using GraphShape = std::array<std::int64_t, 14>;

class StepGraphs {
 public:
    static constexpr std::int64_t kMostGraphs = 32, kMostShapes = 256;  // kept, those used last

    // Starts `work`, which gives ops to exec and reads values that change from step to step from memory. After a
    // recording that failed, work is called again. Errors: those of work.
    template <class Work>
    void run(Exec& exec, const GraphShape& shape, const Work& work) {
        if (!takes(exec)) return work();
        start(exec, shape, std::cref(work));
    }

    struct Counts {
        std::int64_t direct = 0, recorded = 0, replayed = 0;  // runs; recorded ones are replayed, too
        std::int64_t nodes = 0;                               // launches of all replayed graphs
        std::int64_t dropped = 0;                             // graphs that made room for others
    };
    const Counts& counts() const { return counts_; }
    // Why a shape could not be recorded, or nothing.
    const std::string& refusal() const { return refusal_; }
    // For users: which launches were not recorded, and why; empty where all that could be were.
    std::string note() const;
    // Whether anything is recorded from here on.
    bool records = true;
    // Called with each recording and its shape: tests compare those of equal shapes.
    std::function<void(const GraphShape&, const kernels::cuda::Graph&)> inspect;

 private:
    struct Known {
        GraphShape shape;
        std::shared_ptr<const kernels::cuda::Graph> graph;
        std::vector<kernels::cuda::ProductRecord> products = {};  // that the graph computes, counted at each start
        bool is_refused = false;
    };
    bool takes(const Exec& exec) const;
    void start(Exec& exec, const GraphShape& shape, const std::function<void()>& work);
    void record(Exec& exec, Known& known, const std::function<void()>& work);
    void drop_oldest();
    bool shapes_return() const;

    std::list<Known> known_;  // the shape used last comes first
    Counts counts_;
    std::string refusal_;
};

}  // namespace deft::engine
