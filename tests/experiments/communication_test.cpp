// Requirements of one rank in training on several: memory and bytes by hand, and refusals.

#include "experiments/communication.h"

#include "base/error.h"
#include "engine/train/accounting.h"
#include "experiments/engine_config.h"
#include "tests/experiments/trial_config.h"

using namespace deft;
using namespace deft::experiments;

namespace {

constexpr std::int64_t C = 16, T = 16;

// Three layers of width 16, so that no weight is padded; 8 rows a step.
TrialConfig small_trial(const std::string& more = "") {
    return test::resolved_trial(
        "data = { corpus = \"embedded\" }\n"
        "model = { layers = 3, width = 16, heads = 2, seqlen = 16" +
        more +
        " }\n"
        "train = { batch_size = 8, micro_batch_size = 3, budget_tokens = 1280 }\n");
}

// Four experts in the middle layer, top-2 routing.
TrialConfig trial_with_experts() {
    return small_trial(", experts = { count = 4, top = 2, capacity_factor = 0.0, layers = [1] }");
}

CommunicationPlan on_cpu(const TrialConfig& config, int ranks, int expert_ranks = 1) {
    return plan_communication(config, engine::Device::cpu, ranks, expert_ranks);
}

std::string refused(const TrialConfig& config, int ranks, int expert_ranks) {
    return test::refusal([&] { on_cpu(config, ranks, expert_ranks); });
}

std::int64_t vocab(const TrialConfig& config) {
    return trainer_config(config).model.vocab;
}

// Parameters of a layer without experts, and of the rest of the model.
constexpr std::int64_t kLayerDecayed = 12 * C * C, kLayerOthers = 13 * C;
std::int64_t rest_decayed(const TrialConfig& config) {
    return (vocab(config) + T) * C;
}
constexpr std::int64_t kRestOthers = 2 * C;

}  // namespace

TEST_CASE("Memory and bytes of plain ranks by hand") {
    const TrialConfig config = small_trial();
    const std::int64_t decayed = rest_decayed(config) + 3 * kLayerDecayed, others = kRestOthers + 3 * kLayerOthers;
    const std::int64_t all = decayed + others;
    const CommunicationPlan plan = on_cpu(config, 4);
    CHECK(plan.rows == 2);
    CHECK(plan.at_once == 2);
    CHECK(on_cpu(config, 2).at_once == 3);
    const std::int64_t own = (decayed + 3) / 4 + (others + 3) / 4;  // of the last rank, rounded up
    CHECK(plan.memory[0].weights == 4 * all);
    CHECK(plan.memory[0].gradients == 4 * all);
    CHECK(plan.memory[0].moments == 2 * 4 * all);
    CHECK(plan.memory[1].moments == 2 * 4 * ((own + 15) / 16 * 16));
    CHECK(plan.memory[0].expert_weights == 0);
    CHECK(plan.traffic.gradients_reduced == 4 * (all - own));
    CHECK(plan.traffic.gathered == 4 * 3 * own);
    CHECK(plan.traffic.sums == 8 * (2 - 1 + 3 * 1));  // two sums on four ranks, of which the last has one
    CHECK(plan.traffic.rows_to_experts == 0);
    CHECK(plan.traffic.all() == plan.traffic.gradients_reduced + plan.traffic.gathered + plan.traffic.sums);
    for (const int zero : {0, 1}) {
        engine::TrainerConfig trainer = trainer_config(config);
        trainer.zero = zero;
        CHECK(plan.memory[static_cast<std::size_t>(zero)].all == engine::plan_memory(trainer, {}, {3, 4}).bytes);
    }
}

TEST_CASE("Memory and bytes of divided experts by hand") {
    const TrialConfig config = trial_with_experts();
    const std::int64_t gate = 4 * C, experts_decayed = 4 * 8 * C * C, experts_others = 4 * 5 * C;
    const std::int64_t decayed = rest_decayed(config) + 2 * kLayerDecayed + 4 * C * C + gate;
    const std::int64_t others = kRestOthers + 2 * kLayerOthers + 8 * C;
    const CommunicationPlan whole = on_cpu(config, 4), plan = on_cpu(config, 4, 2);
    CHECK(has_experts(config));
    CHECK(whole.memory[0].weights == 4 * (decayed + others + experts_decayed + experts_others));
    CHECK(whole.memory[0].expert_weights == 4 * (experts_decayed + experts_others));
    CHECK(whole.traffic.rows_to_experts == 0);

    // Two of the four experts here, each also on one other rank.
    const std::int64_t here = (experts_decayed + experts_others) / 2;
    CHECK(plan.memory[0].expert_weights == 4 * here);
    CHECK(plan.memory[0].weights == 4 * (decayed + others + here));
    CHECK(plan.memory[0].expert_gradients == 4 * here);
    CHECK(plan.memory[0].gradients == 4 * (decayed + others + here));
    CHECK(plan.memory[0].moments == 8 * (decayed + others + here));
    const std::int64_t own = (decayed + 3) / 4 + (others + 3) / 4, own_experts = here / 2;
    CHECK(plan.traffic.gradients_reduced == 4 * (decayed + others - own + here - own_experts));
    CHECK(plan.traffic.gathered == 4 * (3 * own + own_experts));
    for (const int zero : {0, 1}) {
        engine::TrainerConfig trainer = trainer_config(config);
        trainer.zero = zero;
        trainer.expert_ranks = 2;
        CHECK(plan.memory[static_cast<std::size_t>(zero)].all == engine::plan_memory(trainer, {}, {3, 4}).bytes);
    }
    CHECK(std::abs(plan.memory[1].moments - 8 * (own + own_experts)) < 2 * 16 * 4);

    // 2 rows of 16 tokens with two choices each, of which half leave, forward and backward, as rows of 16 floats.
    CHECK(plan.traffic.rows_to_experts == 2 * (2 * 16 * 2 / 2) * 16 * 4);
    CHECK(plan.traffic.rows_back == plan.traffic.rows_to_experts);
    CHECK(on_cpu(config, 4, 4).traffic.rows_to_experts == 2 * (2 * 16 * 2 * 3 / 4) * 16 * 4);
    // Experts that no other rank has are summed over none.
    CHECK(on_cpu(config, 4, 4).traffic.gradients_reduced == 4 * (decayed + others - own));

    TrialConfig again = config;
    again.train.recompute = RecomputeChoice::block;
    CHECK(on_cpu(again, 4, 2).traffic.rows_to_experts == 3 * (2 * 16 * 2 / 2) * 16 * 4);
    TrialConfig kept = test::resolved_trial(
        "data = { corpus = \"embedded\" }\n"
        "model = { layers = 3, width = 16, heads = 2, seqlen = 16,"
        " experts = { count = 4, top = 2, layers = [1] } }\n"
        "train = { batch_size = 8, budget_tokens = 1280 }\n"
        "random_ltd = { min = 8, step = 8, duration = 1.0 }\n");
    // The middle layer keeps 8 tokens of 16, all the time.
    const engine::Counts counts = engine::run_schedule(trainer_config(kept));
    CHECK(counts.layer_tokens < counts.input_tokens);
    const std::int64_t rows = on_cpu(kept, 4, 2).traffic.rows_to_experts;
    CHECK(rows < plan.traffic.rows_to_experts);
    CHECK(rows >= plan.traffic.rows_to_experts / 2);
}

TEST_CASE("A bf16 model on GPUs sends rows of two bytes and keeps a rounding of each weight") {
    TrialConfig config = trial_with_experts();
    config.train.dtype = engine::DType::f32;
    const CommunicationPlan single = plan_communication(config, engine::Device::cuda, 4, 2);
    config.train.dtype = engine::DType::bf16;
    const CommunicationPlan plan = plan_communication(config, engine::Device::cuda, 4, 2);
    CHECK(plan.memory[0].weights * 4 == single.memory[0].weights * 6);
    CHECK(plan.memory[0].expert_weights * 4 == single.memory[0].expert_weights * 6);
    CHECK(plan.memory[0].gradients == single.memory[0].gradients);
    CHECK(plan.traffic.gathered == single.traffic.gathered);
    CHECK(plan.traffic.rows_back * 2 == single.traffic.rows_back);
    // Then it is the rounded weights that are gathered, and to three ranks a gate of 4 x 16 values that are never
    // rounded.
    config.train.zero = 1;
    const std::int64_t gathered = plan_communication(config, engine::Device::cuda, 4, 2).traffic.gathered;
    CHECK(gathered * 2 == single.traffic.gathered + 2 * 3 * 4 * 16 * 4);
}

TEST_CASE("Ranks that do not divide rows, ranks or experts are refused") {
    CHECK_THAT(refused(small_trial(), 3, 1), ContainsSubstring("the 8 rows of step 1 cannot be divided by 3 ranks"));
    CHECK_THAT(refused(trial_with_experts(), 8, 3),
               ContainsSubstring("train.expert_ranks = 3 does not divide 8 ranks") &&
                   ContainsSubstring("nothing was started"));
    CHECK_THAT(refused(trial_with_experts(), 4, 8), ContainsSubstring("does not divide 4 ranks"));
    CHECK_THAT(refused(trial_with_experts(), 8, 8),
               ContainsSubstring("4 experts of a layer cannot be divided among 8 ranks"));
    CHECK_THAT(refused(small_trial(), 4, 2), ContainsSubstring("a model that has no experts"));
    CHECK(refused(trial_with_experts(), 4, 4) == "accepted");
    CHECK(!has_experts(small_trial()));
}
