#include "engine/nn/block_stack.h"

#include <stdexcept>
#include <string>

namespace deft::engine {

std::string block_prefix(std::int64_t block) {
    return "h." + std::to_string(block) + ".";
}

BlockStack::BlockStack(const Planner& plan, std::int64_t width, const std::vector<BlockConfig>& layers,
                       Recompute recompute)
    : recompute_(recompute) {
    const std::size_t slots = plan.trains() ? layers.size() + 1 : 2;
    for (std::size_t slot = 0; slot < slots; ++slot)
        slots_.push_back(plan.saved("stream." + std::to_string(slot), {plan.B, plan.T, width}));
    Planner of_blocks = plan;
    of_blocks.keeps = plan.trains() && recompute != Recompute::block;
    of_blocks.keeps_outputs = plan.trains() && recompute == Recompute::none;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        of_blocks.prefix = plan.prefix + block_prefix(static_cast<std::int64_t>(i));
        blocks_.emplace_back(of_blocks, width, layers[i], static_cast<std::int64_t>(i));
    }
}

Tensor BlockStack::stream_before(std::int64_t layer, const StreamRows& rows) const {
    while (layer > 0 && rows.kept.set_of(layer - 1) != KeptTokens::kEveryToken) --layer;
    return rows.of(slots_[static_cast<std::size_t>(layer) % slots_.size()]);
}

Tensor BlockStack::input_of(std::int64_t layer, const StreamRows& rows) const {
    const Tensor index = rows.kept.rows(layer).index;
    if (!index) return stream_before(layer, rows);
    const Tensor& slot = slots_.at(static_cast<std::size_t>(layer) + 1);
    return slot.view({index.dim(0), index.dim(1), slot.columns()});
}

Tensor BlockStack::output_of(std::int64_t layer, const StreamRows& rows) const {
    const BlockRows kept = rows.kept.rows(layer);
    if (!kept.index) return stream_before(layer + 1, rows);
    return kept.scatters ? Tensor{} : input_of(layer + 1, rows);
}

Residual BlockStack::forward(Exec& exec, const StreamRows& rows) const {
    Residual stream{input(rows), {}};
    Residual run;  // inside a run of blocks with the same kept tokens, those rows
    for (std::int64_t layer = 0; layer < layers(); ++layer) {
        const Block& block = blocks_[static_cast<std::size_t>(layer)];
        const BlockRows kept = rows.kept.rows(layer);
        const Tensor block_input = input_of(layer, rows), block_output = output_of(layer, rows);
        if (!kept.index) {
            stream = block.forward(exec, stream, block_input, block_output, kept, rows);
            continue;
        }
        if (kept.gathers && stream.branch) {
            const Tensor sum = stream_before(layer, rows);
            residual_forward(exec, sum, {}, stream.rows, stream.branch);
            stream = {sum, {}};
        }
        run = block.forward(exec, kept.gathers ? stream : run, block_input, block_output, kept, rows);
        if (kept.scatters) residual_forward(exec, stream.rows, kept.index, run.rows, run.branch);
    }
    return stream;
}

void BlockStack::backward(Exec& exec, Tensor d_stream, const StreamRows& rows, Accumulate accumulate,
                          const BlockDone& done) const {
    for (std::int64_t layer = layers() - 1; layer >= 0; --layer) {
        const Block& block = blocks_[static_cast<std::size_t>(layer)];
        const Tensor block_input = input_of(layer, rows);
        // The tensors that the last block saved are still there.
        const bool is_last = layer + 1 == layers();
        if (recompute_ == Recompute::block && !is_last) block.recompute(exec, block_input, rows.kept.rows(layer), rows);
        block.backward(exec, d_stream, block_input, rows.kept.rows(layer), rows, accumulate);
        if (done) done(layer);
    }
}

}  // namespace deft::engine
