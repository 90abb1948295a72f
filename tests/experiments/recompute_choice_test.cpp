// train.recompute = "auto": what it chooses, and that no choice changes a bit.

#include "base/files.h"
#include "base/json.h"
#include "experiments/engine_config.h"
#include "experiments/projection.h"
#include "tests/experiments/trial_config.h"
#include "tests/experiments/whole_trial.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::experiments;

namespace {

constexpr engine::Device kCpu = engine::Device::cpu;
constexpr std::int64_t kBlocks = 3, kChannels = 16, kPositions = 3 * 16;  // of a micro-batch

TrialConfig trial_with(const std::string& train) {
    return test::resolved_trial(
        "data = { corpus = \"embedded\" }\n"
        "model = { layers = 3, width = 16, heads = 2, seqlen = 16 }\n"
        "train = { batch_size = 12, micro_batch_size = 3, budget_tokens = 1536" +
        train + " }\n");
}

std::int64_t planned(engine::Recompute recompute, const std::string& train = "", const engine::RankOf& rank = {}) {
    engine::TrainerConfig trainer = trainer_config(trial_with(train));
    trainer.recompute = recompute;
    return engine::plan_memory(trainer, {}, rank).bytes;
}

// The trial of trial_with(), whose attempts may each plan another number of bytes.
struct LimitedTrial {
    explicit LimitedTrial(const std::string& recompute) : config(trial_with(", recompute = \"" + recompute + "\"")) {
        config.log_every = 1;
    }

    // Up to `steps` more; 0: to the end. What the journal's start says is computed again.
    std::string run(int steps, std::int64_t memory_bytes) {
        TrialSlot slot;
        slot.memory_bytes = memory_bytes;
        int taken = 0;
        run_trial(config, {folder.path(), folder / "data", folder / "checkpoints"}, slot,
                  [&] { return steps > 0 && ++taken >= steps; });
        return records("started").back().at("recompute").get<std::string>();
    }

    std::vector<Json> records(const std::string& type) const { return test::journal_records(folder.path(), type); }

    // Losses of all steps, and the weights' sha256.
    std::vector<std::string> bits() const {
        std::vector<std::string> all;
        for (const Json& point : records("train")) all.push_back(point.at("loss").dump());
        all.push_back(records("artifact").back().at("sha256").get<std::string>());
        return all;
    }

    test::TemporaryFolder folder;
    TrialConfig config;
};

}  // namespace

TEST_CASE("auto is the first of none, activation and block whose plan fits, by hand") {
    const std::int64_t all = planned(engine::Recompute::none), outputs = planned(engine::Recompute::activation),
                       inputs = planned(engine::Recompute::block);
    // Outputs of two norms (2 C) and of the activation (4 C) of each layer but one, in f32.
    CHECK(all - outputs == 4 * (kBlocks - 1) * kPositions * 6 * kChannels);
    // Beside the block's input (C): mid (C), qkv (3 C), attention (C), before the activation (4 C), which are multiples
    // of 256 bytes; lse of two heads, mean and rstd of two norms.
    CHECK(outputs - inputs == 4 * (kBlocks - 1) * kPositions * (9 * kChannels + 2 + 4));

    const TrialConfig config = trial_with(", recompute = \"auto\"");
    const auto chosen = [&](std::int64_t limit) { return chosen_recompute(config, kCpu, 1, limit); };
    CHECK(chosen(all) == RecomputeChoice::none);
    CHECK(chosen(all - 1) == RecomputeChoice::activation);
    CHECK(chosen(outputs) == RecomputeChoice::activation);
    CHECK(chosen(outputs - 1) == RecomputeChoice::block);
    CHECK(chosen(inputs) == RecomputeChoice::block);
    CHECK(chosen(1) == RecomputeChoice::block);
    CHECK(chosen(0) == RecomputeChoice::none);
    CHECK(planned_bytes(config, kCpu, 1, all).largest == all);
    CHECK(planned_bytes(config, kCpu, 1, all - 1).largest == outputs);
    CHECK(planned_bytes(config, kCpu, 1, 1).largest == inputs);
    CHECK(planned_bytes(config, kCpu).largest == all);
    CHECK(project(config).memory_bytes == all);
}

TEST_CASE("a limit changes no choice but auto, and an imported model has none") {
    CHECK(chosen_recompute(trial_with(""), kCpu, 1, 1) == RecomputeChoice::none);
    CHECK(chosen_recompute(trial_with(", recompute = \"activation\""), kCpu, 1, 1) == RecomputeChoice::activation);
    TrialConfig imported = trial_with(", recompute = \"auto\"");
    imported.train.budget_tokens = 0;
    imported.start.emplace().from = "elsewhere";
    CHECK(chosen_recompute(imported, kCpu, 1, 1) == RecomputeChoice::none);
}

TEST_CASE("ranks choose by the plan of the last one, so that all choose alike") {
    const std::string zero = ", zero = 1";
    const TrialConfig config = trial_with(zero + ", recompute = \"auto\"");
    const std::int64_t alone = planned(engine::Recompute::none, zero),
                       last = planned(engine::Recompute::none, zero, {1, 2});
    REQUIRE(last < alone);
    CHECK(chosen_recompute(config, kCpu, 2, last) == RecomputeChoice::none);
    CHECK(chosen_recompute(config, kCpu, 2, last - 1) == RecomputeChoice::activation);
    CHECK(chosen_recompute(config, kCpu, 1, last) != RecomputeChoice::none);
    CHECK(planned_bytes(config, kCpu, 2, last - 1).all == 2 * planned(engine::Recompute::activation, zero, {1, 2}));
}

TEST_CASE("auto has the bits of none, under each limit, and its journal names the choice") {
    LimitedTrial none("none");
    CHECK(none.run(0, 1) == "none");
    const std::int64_t all = planned(engine::Recompute::none), outputs = planned(engine::Recompute::activation);
    for (const auto& [limit, name] :
         {std::pair<std::int64_t, const char*>{0, "none"}, {all - 1, "activation"}, {outputs - 1, "block"}}) {
        LimitedTrial limited("auto");
        CHECK(limited.run(0, limit) == name);
        CHECK(limited.bits() == none.bits());
    }
}

TEST_CASE("a trial goes on to the same bits under another limit") {
    LimitedTrial none("none"), moved("auto");
    none.run(0, 0);
    CHECK(moved.run(2, 1) == "block");
    CHECK(moved.run(2, planned(engine::Recompute::none) - 1) == "activation");
    CHECK(moved.run(0, 0) == "none");
    REQUIRE(moved.records("started").size() == 3);
    CHECK(moved.records("started")[1].at("resume_step") == 2);
    CHECK(moved.records("started")[2].at("resume_step") == 4);
    CHECK(moved.bits() == none.bits());
}
