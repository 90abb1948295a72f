#include "engine/train/shared_weights.h"

#include "engine/core/ops.h"

namespace deft::engine {

namespace {

// In the type that sums are kept in.
void reduce_scatter(const Communicator& ranks, const Tensor& values) {
    if (values.dtype == DType::f64) return ranks.reduce_scatter(values.elements<double>());
    ranks.reduce_scatter(values.elements<float>());
}

void all_gather(const Communicator& ranks, const Tensor& values) {
    if (values.dtype == DType::f64) return ranks.all_gather(values.elements<double>());
    ranks.all_gather(values.elements<float>());
}

}  // namespace

std::vector<SharedGroup> shared_groups(const ParameterTable& table, const Communicator& ranks,
                                       const Communicator& of_divided) {
    std::vector<SharedGroup> groups;
    for (const ParameterTable::Group& group : table.groups())
        groups.push_back({group, group.is_divided ? of_divided : ranks});
    return groups;
}

void sum_own_gradients(const std::vector<SharedGroup>& groups) {
    for (const SharedGroup& shared : groups) reduce_scatter(shared.ranks, shared.group.grad);
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
    for (const SharedGroup& shared : groups) all_gather(shared.ranks, shared.group.value);
}

}  // namespace deft::engine
