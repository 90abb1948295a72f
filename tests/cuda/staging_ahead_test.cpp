// Steps that are laid out while the device computes the ones before them: the same results, counts and samples as of
// steps that are laid out when their turn comes.

#include "tests/catch.h"
#include "tests/cuda/graph_cases.h"

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
        Trainer ahead(trained.config, trained.data, kGraphGpu), in_turn(trained.config, trained.data, kGraphGpu);
        for (int step = 0; step < trained.steps; ++step) {
            CAPTURE(step);
            const StepResult of_ahead = ahead.step(), of_turn = step_in_halves(in_turn);
            CHECK(numbers_of(of_ahead, ahead) == numbers_of(of_turn, in_turn));
            CHECK((ahead.unique_tokens_by_sample() == in_turn.unique_tokens_by_sample()));
        }
        // One that waits is taken by the next step, however that one is computed.
        CHECK(step_in_halves(ahead).loss == in_turn.step().loss);
        CHECK((all_parameters<float>(ahead) == all_parameters<float>(in_turn)));
    }
}

TEST_CASE("a restored trainer forgets the step that it had laid out") {
    const GraphCase trained = graph_cases().front();
    Trainer trainer(trained.config, trained.data, kGraphGpu);
    const double first = trainer.step().loss;
    trainer.step();
    trainer.restore({}, {});
    trainer.draw_initial_weights();
    CHECK(trainer.unique_tokens() == 0);
    CHECK(trainer.step().loss == first);
}
