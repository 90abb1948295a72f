#pragma once
// Cost of a layer of experts beside the dense feed-forward layer of equally many FLOPs a row: each alone, forward and
// backward, with random weights and rows.

#include <cstdint>
#include <memory>

namespace deft::engine {

struct ExpertLayerBench {
    std::int64_t rows = 2048, width = 256, hidden = 1024;  // hidden: of each expert
    std::int64_t experts = 8, top = 1;
    int threads = 2;
};

enum class TimedLayer {
    dense,    // hidden values of as many experts as a row takes
    experts,  // without a capacity: no choice is dropped
};

class LayerRun {
 public:
    // Errors: config, for more experts a row than there are; memory.
    LayerRun(const ExpertLayerBench& bench, TimedLayer layer);
    ~LayerRun();

    // Seconds of one forward and backward pass, gradients of the weights and of the rows.
    double run();

    // Share of one pass outside the products of experts and their activation: gate, losses, positions,
    // dispatch and combine, and their gradients. 0 of a dense layer.
    double routing_share();
    // Rows of the busiest expert over an equal share, in the last pass; 1 of a dense layer.
    double busiest_load() const;
    // Whether the gradient of the rows is finite and not zero.
    bool is_sane() const;

 private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace deft::engine
