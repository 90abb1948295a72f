#include "engine/train/rank_layout.h"

#include <fmt/format.h>

#include "base/error.h"

namespace deft::engine {

void require_expert_ranks(const TrainerConfig& config, int ranks) {
    const int divisor = config.expert_ranks;
    if (divisor == 1) return;
    const auto refuse = [](const std::string& what, const std::string& fix) {
        throw Error(ErrorKind::config, what, fix, "nothing was started");
    };
    if (divisor < 1 || ranks % divisor != 0)
        refuse(fmt::format("train.expert_ranks = {} does not divide {} ranks", divisor, ranks),
               "choose a divisor of the ranks, as 1 or all of them");
    bool has_experts = false;
    for (const BlockConfig& block : config.model.blocks) {
        if (!block.experts) continue;
        has_experts = true;
        if (block.experts->count % divisor != 0)
            refuse(fmt::format("{} experts of a layer cannot be divided among {} ranks", block.experts->count, divisor),
                   "choose train.expert_ranks as a divisor of every layer's experts");
    }
    if (!has_experts)
        refuse(fmt::format("train.expert_ranks = {} of a model that has no experts", divisor), "leave it out");
}

ModelRanks model_ranks(const TrainerConfig& config, const RankOf& rank) {
    const int divisor = config.expert_ranks;
    ModelRanks ranks;
    ranks.experts = {rank.rank % divisor, divisor};
    if (config.zero == 0) return ranks;
    ranks.moments = rank;
    ranks.divided_moments = {rank.rank / divisor, rank.ranks / divisor};
    return ranks;
}

RankLayout lay_out_ranks(const TrainerConfig& config, const Communicator& ranks) {
    require_expert_ranks(config, ranks.size());
    const Communicator values = ranks.split(0);
    RankLayout layout{ranks, values, values, model_ranks(config, ranks.rank_of())};
    if (config.expert_ranks == 1) return layout;
    layout.same_experts = ranks.split(ranks.rank() % config.expert_ranks);
    layout.model.expert_rows = ranks.split(ranks.rank() / config.expert_ranks);
    layout.model.expert_counts = layout.model.expert_rows.split(0);
    return layout;
}

void RankLayout::use_device(const kernels::cuda::Exec& exec, std::span<std::byte> scratch) const {
    values.use_device(exec, scratch);
    if (model.experts.ranks == 1) return;
    same_experts.use_device_of(values);
    model.expert_rows.use_device_of(values);
}

std::int64_t RankLayout::bytes_sent() const {
    std::int64_t bytes = all.bytes_sent() + values.bytes_sent();
    if (model.experts.ranks > 1)
        bytes += same_experts.bytes_sent() + model.expert_rows.bytes_sent() + model.expert_counts.bytes_sent();
    return bytes;
}

}  // namespace deft::engine
