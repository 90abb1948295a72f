#include "engine/train/communication_plan.h"

namespace deft::engine {

std::int64_t reduce_scatter_bytes(std::int64_t count, const RankOf& rank, std::int64_t value_bytes) {
    return (count - share_of(count, rank.rank, rank.ranks).size()) * value_bytes;
}

std::int64_t all_gather_bytes(std::int64_t count, const RankOf& rank, std::int64_t value_bytes) {
    return share_of(count, rank.rank, rank.ranks).size() * (rank.ranks - 1) * value_bytes;
}

std::int64_t all_reduce_bytes(std::int64_t count, const RankOf& rank, std::int64_t value_bytes) {
    return reduce_scatter_bytes(count, rank, value_bytes) + all_gather_bytes(count, rank, value_bytes);
}

ExchangedValues exchanged_values(const ParameterTable& table, const Tensor& result,
                                 const std::vector<Tensor>& observed) {
    ExchangedValues values;
    for (const Parameter& p : table.all()) {
        values.weights.push_back({p.stored_elements(), is_decayed(p.kind), p.of_experts, p.is_divided, p.unrounded});
        values.weight_bytes = size_of(p.value.dtype);
        if (!p.unrounded) values.read_bytes = size_of(p.compute.dtype);
    }
    values.sums = result.numel();
    for (const Tensor& tensor : observed) values.observed.push_back(tensor.numel());
    return values;
}

std::vector<PlannedGroup> planned_groups(const ExchangedValues& values, const RankOf& rank, int expert_ranks) {
    std::vector<PlannedGroup> groups;
    for (const bool is_divided : {false, true})
        for (const bool decayed : {true, false}) {
            PlannedGroup group{0, rank, is_divided};
            if (is_divided) group.rank = {rank.rank / expert_ranks, rank.ranks / expert_ranks};
            for (const ExchangedValues::Weight& weight : values.weights) {
                if (weight.decayed != decayed || weight.is_divided != is_divided) continue;
                const std::int64_t first = group.elements;
                group.elements += padded_elements(weight.elements);
                if (weight.unrounded) group.unrounded.push_back({first, group.elements});
            }
            if (group.elements > 0) groups.push_back(group);
        }
    return groups;
}

StepBytes planned_step_bytes(const ExchangedValues& values, const RankOf& rank, int expert_ranks, bool shares_moments) {
    StepBytes bytes;
    for (const PlannedGroup& group : planned_groups(values, rank, expert_ranks)) {
        bytes.gradients_reduced += reduce_scatter_bytes(group.elements, group.rank, values.weight_bytes);
        const bool rounded = shares_moments && values.read_bytes != values.weight_bytes;
        bytes.gathered +=
            all_gather_bytes(group.elements, group.rank, rounded ? values.read_bytes : values.weight_bytes);
        if (!rounded) continue;
        const Share own = share_of(group.elements, group.rank.rank, group.rank.ranks);
        for (const Share& range : group.unrounded)
            bytes.gathered += common_part(own, range).size() * (group.rank.ranks - 1) * values.weight_bytes;
    }
    bytes.sums = all_reduce_bytes(values.sums, rank, sizeof(double));
    for (const std::int64_t count : values.observed) bytes.sums += all_reduce_bytes(count, rank, sizeof(std::int64_t));
    return bytes;
}

}  // namespace deft::engine
