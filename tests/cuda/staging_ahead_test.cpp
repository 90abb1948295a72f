// Steps that are laid out, or whose gradients start, while the device computes the ones before them: the same results,
// counts and samples as of steps that begin when their turn comes.

#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "engine/train/checkpoint.h"
#include "tests/catch.h"
#include "tests/cuda/graph_cases.h"
#include "tests/temporary_folder.h"

using namespace deft;
using namespace deft::engine;

namespace {

std::vector<double> numbers_of(const StepResult& result, const Trainer& trainer) {
    const Counts& counts = trainer.counts();
    std::vector<double> numbers = {result.loss, result.grad_norm, result.lr, counts.flops};
    for (const std::int64_t count : {counts.steps, counts.samples, counts.input_tokens, counts.layer_tokens,
                                     counts.cut_tokens, counts.padding_tokens, trainer.unique_tokens()})
        numbers.push_back(static_cast<double>(count));
    numbers.insert(numbers.end(), counts.draws_by_tenth.begin(), counts.draws_by_tenth.end());
    for (const ExpertLoad& load : trainer.expert_loads()) numbers.insert(numbers.end(), {load.dropped, load.entropy});
    return numbers;
}

// The halves of a step: update() stages nothing ahead.
StepResult step_in_halves(Trainer& trainer) {
    const StepResult result = trainer.accumulate_gradients();
    trainer.update();
    return result;
}

}  // namespace

TEST_CASE("a step that is laid out ahead trains, counts and shows what one in its turn does") {
    for (const GraphCase& trained : graph_cases()) {
        INFO(trained.name);
        for (const bool starts_gradients : {false, true}) {
            CAPTURE(starts_gradients);
            Trainer ahead(trained.config, trained.data, kGraphGpu), in_turn(trained.config, trained.data, kGraphGpu);
            ahead.work_ahead(starts_gradients);
            for (int step = 0; step < trained.steps; ++step) {
                CAPTURE(step);
                const StepResult of_ahead = ahead.step(), of_turn = step_in_halves(in_turn);
                CHECK(numbers_of(of_ahead, ahead) == numbers_of(of_turn, in_turn));
                CHECK((ahead.unique_tokens_by_sample() == in_turn.unique_tokens_by_sample()));
                CHECK((all_parameters<float>(ahead) == all_parameters<float>(in_turn)));
                if (step % 3 == 1) evaluate_samples(ahead, trained.data, 2);  // as validation does between two steps
            }
            // One that waits is taken by the next step, however that one is computed.
            CHECK(step_in_halves(ahead).loss == in_turn.step().loss);
            CHECK((all_parameters<float>(ahead) == all_parameters<float>(in_turn)));
        }
    }
}

TEST_CASE("a checkpoint between steps that work ahead is that of steps in their turn") {
    const GraphCase trained = graph_cases().front();
    const test::TemporaryFolder folder;
    std::string first_hash;
    for (const bool starts_gradients : {false, true}) {
        Trainer trainer(trained.config, trained.data, kGraphGpu);
        trainer.work_ahead(starts_gradients);
        for (int step = 0; step < 3; ++step) trainer.step();
        save_checkpoint(trainer, folder / "c", {}, Tokenizer::bytes());
        const std::string hashes = verify_checkpoint(folder / "c").at("sha256").dump();
        if (first_hash.empty()) first_hash = hashes;
        CHECK(hashes == first_hash);
        Trainer resumed(trained.config, trained.data, kGraphGpu);
        resumed.work_ahead(starts_gradients);
        resumed.step();
        resumed.step();
        load_checkpoint(resumed, folder / "c");
        for (int step = 0; step < 3; ++step) CHECK(resumed.step().loss == trainer.step().loss);
        CHECK((all_parameters<float>(resumed) == all_parameters<float>(trainer)));
    }
}

TEST_CASE("a step that diverges is not counted, though the gradients of the next one have started") {
    GraphCase trained = graph_cases().front();
    trained.config.learning_rate = {1e30, 1e30, 0, 1'000'000, Decay::constant};
    trained.config.optimizer.max_grad_norm = 0;
    std::vector<Counts> counts;
    std::vector<std::vector<float>> weights;
    for (const bool starts_gradients : {false, true}) {
        Trainer trainer(trained.config, trained.data, kGraphGpu);
        trainer.work_ahead(starts_gradients);
        std::string said;
        for (int step = 0; step < 5 && said.empty(); ++step) try {
                trainer.step();
            } catch (const Error& error) {
                said = error.what();
            }
        CHECK_THAT(said, ContainsSubstring("training diverged at step " + std::to_string(trainer.counts().steps + 1)));
        CHECK_THROWS_WITH(trainer.step(), ContainsSubstring("training diverged at step"));
        counts.push_back(trainer.counts());
        weights.push_back(all_parameters<float>(trainer));
    }
    CHECK(counts[1].steps == counts[0].steps);
    CHECK(counts[1].layer_tokens == counts[0].layer_tokens);
    CHECK(counts[1].flops == counts[0].flops);
    CHECK((weights[1] == weights[0]));
}

TEST_CASE("a restored trainer forgets the step that it had laid out") {
    const GraphCase trained = graph_cases().front();
    for (const bool starts_gradients : {false, true}) {
        Trainer trainer(trained.config, trained.data, kGraphGpu);
        trainer.work_ahead(starts_gradients);
        const double first = trainer.step().loss;
        trainer.step();
        trainer.restore({}, {});
        trainer.draw_initial_weights();
        CHECK(trainer.unique_tokens() == 0);
        CHECK(trainer.step().loss == first);
    }
}
