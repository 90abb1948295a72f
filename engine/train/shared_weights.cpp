#include "engine/train/shared_weights.h"

#include "engine/core/ops.h"
#include "engine/nn/block_stack.h"

namespace deft::engine {

namespace {

// In the type that sums are kept in.
void begin_reduce_scatter(const Communicator& ranks, const Tensor& values, const Share& range) {
    if (range.size() == 0) return;
    if (values.dtype == DType::f64) return ranks.begin_reduce_scatter(values.elements<double>(), range);
    ranks.begin_reduce_scatter(values.elements<float>(), range);
}

void all_gather(const Communicator& ranks, const Tensor& values) {
    if (values.dtype == DType::f64) return ranks.all_gather(values.elements<double>());
    if (values.dtype == DType::bf16) return ranks.all_gather(values.elements<kernels::bf16>());
    ranks.all_gather(values.elements<float>());
}

// The elements of one weight in a group, with the padding after it.
Share elements_of(const Parameter& parameter, const ParameterTable::Group& group) {
    if (parameter.is_divided != group.is_divided || is_decayed(parameter.kind) != group.decayed) return {};
    const auto bytes = static_cast<const char*>(parameter.value.data) - static_cast<const char*>(group.value.data);
    const std::int64_t first = bytes / size_of(group.value.dtype);
    return {first, first + padded_elements(parameter.stored_elements())};
}

// Blocks plan their weights one after the other, and so each has one range of the group.
std::vector<Share> elements_of_blocks(const ParameterTable& table, const ParameterTable::Group& group,
                                      std::size_t blocks) {
    std::vector<Share> of_block(blocks);
    for (const Parameter& parameter : table.all())
        for (std::size_t block = 0; block < blocks; ++block) {
            if (!parameter.name.starts_with(block_prefix(static_cast<std::int64_t>(block)))) continue;
            const Share elements = elements_of(parameter, group);
            if (elements.size() == 0) continue;
            Share& own = of_block[block];
            own = own.size() == 0 ? elements : Share{own.begin, elements.end};
        }
    return of_block;
}

std::vector<Share> unrounded_elements(const ParameterTable& table, const ParameterTable::Group& group) {
    std::vector<Share> elements;
    if (!group.rounded) return elements;
    for (const Parameter& parameter : table.all())
        if (const Share own = elements_of(parameter, group); parameter.unrounded && own.size() > 0)
            elements.push_back(own);
    return elements;
}

// The elements before, between and after the blocks.
std::vector<Share> elements_of_no_block(const SharedGroup& shared) {
    std::vector<Share> others;
    std::int64_t at = 0;
    for (const Share& block : shared.of_block) {
        if (block.size() == 0) continue;
        others.push_back({at, block.begin});
        at = block.end;
    }
    others.push_back({at, shared.group.grad.numel()});
    return others;
}

}  // namespace

std::vector<SharedGroup> shared_groups(const ParameterTable& table, std::size_t blocks, const Communicator& values,
                                       const Communicator& of_divided) {
    std::vector<SharedGroup> groups;
    for (const ParameterTable::Group& group : table.groups())
        groups.push_back({group, group.is_divided ? of_divided : values, elements_of_blocks(table, group, blocks),
                          unrounded_elements(table, group)});
    return groups;
}

void begin_summing_block(const std::vector<SharedGroup>& groups, std::int64_t block) {
    for (const SharedGroup& shared : groups)
        begin_reduce_scatter(shared.ranks, shared.group.grad, shared.of_block[static_cast<std::size_t>(block)]);
}

void finish_summing(const std::vector<SharedGroup>& groups) {
    for (const SharedGroup& shared : groups)
        for (const Share& others : elements_of_no_block(shared))
            begin_reduce_scatter(shared.ranks, shared.group.grad, others);
    for (const SharedGroup& shared : groups) shared.ranks.finish();
}

void sum_own_squares(Exec& exec, const std::vector<SharedGroup>& groups, const Tensor& squares) {
    Accumulate accumulate = Accumulate::no;
    for (const SharedGroup& shared : groups) {
        const Tensor& grad = shared.group.grad;
        const Share own = share_of(grad.numel(), shared.ranks.rank(), shared.ranks.size());
        sum_of_squares(exec, squares, grad.part(own.begin, own.size()), accumulate);
        accumulate = Accumulate::yes;
    }
}

void gather_gradients(const std::vector<SharedGroup>& groups) {
    for (const SharedGroup& shared : groups) all_gather(shared.ranks, shared.group.grad);
}

void gather_weights(const std::vector<SharedGroup>& groups) {
    for (const SharedGroup& shared : groups) {
        all_gather(shared.ranks, shared.group.rounded ? shared.group.rounded : shared.group.value);
        for (const Share& range : shared.unrounded)
            shared.ranks.all_gather(shared.group.value.elements<float>(), range);
    }
}

void gather_values(const std::vector<SharedGroup>& groups) {
    for (const SharedGroup& shared : groups)
        if (shared.group.rounded) all_gather(shared.ranks, shared.group.value);
}

}  // namespace deft::engine
