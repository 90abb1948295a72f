// Recorded steps of engine/core/step_graphs.h on the CUDA device, real or emulated: the bits of single launches.

#include <fmt/format.h>

#include "base/error.h"
#include "kernels/cuda/graph.h"
#include "kernels/cuda/runtime.h"
#include "tests/catch.h"
#include "tests/cuda/graph_cases.h"

using namespace deft;
using namespace deft::engine;

namespace {

void append_losses(Trainer& trainer, std::int64_t B, std::vector<float>& values) {
    const Transformer& model = trainer.model();
    std::vector<Tensor> losses;
    if (model.loss) losses.push_back(model.loaded(model.loss));
    if (model.class_loss) losses.push_back(model.class_loss.view({B}));
    for (const Tensor& loss : losses) {
        const std::vector<float> more = host_copy<float>(trainer.exec(), loss);
        values.insert(values.end(), more.begin(), more.end());
    }
}

struct Run {
    std::vector<double> measured;  // loss, gradient norm and rate of each step
    std::vector<float> weights;
    StepGraphs::Counts counts;
    std::size_t recorded = 0;  // shapes of micro-batches
    std::string refusal;
};

Run train(const GraphCase& trained, bool records) {
    Trainer trainer(trained.config, trained.data, kGraphGpu);
    trainer.graphs().records = records;
    Run run;
    trainer.graphs().inspect = [&](const GraphShape& shape, const kernels::cuda::Graph&) {
        run.recorded += shape != GraphShape{};
    };
    for (int step = 0; step < trained.steps; ++step) {
        const StepResult result = trainer.step();
        for (const double value : {result.loss, result.grad_norm, result.lr}) run.measured.push_back(value);
    }
    run.weights = all_parameters<float>(trainer);
    run.counts = trainer.graphs().counts();
    run.refusal = trainer.graphs().refusal();
    return run;
}

}  // namespace

TEST_CASE("steps that are recorded and started again have the bits of single launches") {
    for (const GraphCase& trained : graph_cases()) {
        INFO(trained.name);
        const Run direct = train(trained, false), replayed = train(trained, true);
        CHECK(direct.counts.replayed + direct.counts.direct == 0);
        CHECK(replayed.counts.replayed > 0);
        CHECK(replayed.recorded >= trained.least_recorded);
        CHECK(replayed.refusal.empty());
        CHECK(replayed.measured == direct.measured);
        CHECK((replayed.weights == direct.weights));
    }
}

TEST_CASE("recorded evaluations have the bits of single launches, after further steps too") {
    for (const GraphCase& trained : graph_cases()) {
        INFO(trained.name);
        const auto evaluated = [&](bool records) {
            Trainer trainer(trained.config, trained.data, kGraphGpu);
            StepGraphs& graphs = trainer.model().evaluation_graphs();
            graphs.records = records;
            std::vector<float> values;
            for (int round = 0; round < 4; ++round) {
                trainer.step();
                for (const std::int64_t B : {2, 1}) {
                    evaluate_samples(trainer, trained.data, B);
                    append_losses(trainer, B, values);
                }
            }
            CHECK(graphs.counts().replayed == (records ? 6 : 0));
            CHECK(graphs.refusal().empty());
            return values;
        };
        const std::vector<float> direct = evaluated(false), replayed = evaluated(true);
        CHECK(direct.size() >= 12);
        CHECK(replayed == direct);
    }
}

TEST_CASE("a shape that cannot be recorded runs launch by launch, and says why") {
    GraphBuffers on;
    StepGraphs graphs;
    const auto kinds = GENERATE(0, 1, 2);
    const auto work = [&] {
        dropout(on.exec, on.x, on.x, {}, {7, 1, 1, on.draw, 0.5});
        const std::int64_t zero[2] = {};
        if (kinds == 0) host_copy<float>(on.exec, on.x);
        if (kinds == 1) write_tensor(on.exec, on.draw, zero);
        if (kinds == 2) kernels::cuda::synchronise(on.exec.cuda);
    };
    for (int run = 0; run < 4; ++run) {
        on.fill();
        graphs.run(on.exec, {1}, work);
        std::vector<float> values = on.values();
        CHECK(std::count(values.begin(), values.end(), 2.0f) + std::count(values.begin(), values.end(), 0.0f) == 48);
        CHECK(std::count(values.begin(), values.end(), 2.0f) > 0);
    }
    CHECK(graphs.counts().direct == 4);
    CHECK(graphs.counts().recorded == 0);
    const char* const reasons[] = {"a copy to the host", "a copy from the host", "a wait"};
    const std::string reason = std::string(reasons[kinds]) + " cannot be recorded in a graph";
    CHECK(graphs.refusal() == reason);
    CHECK(graphs.note() == "CUDA graphs: 4 of 4 parts of steps ran launch by launch: " + reason);
}

TEST_CASE("no more than 32 graphs are kept, those used last") {
    GraphBuffers on;
    StepGraphs graphs;
    const auto use = [&](std::int64_t shape) {
        graphs.run(on.exec, {shape}, [&] { dropout(on.exec, on.x, on.x, {}, {7, 1, 1, on.draw, 0.5}); });
    };
    for (std::int64_t shape = 0; shape < 34; ++shape) use(shape), use(shape);
    CHECK(graphs.counts().recorded == 34);
    CHECK(graphs.counts().dropped == 2);
    CHECK(graphs.counts().nodes == 34);
    CHECK(graphs.note().empty());
    use(33), use(2);
    CHECK(graphs.counts().recorded == 34);
    use(0);  // known, and recorded again
    CHECK(graphs.counts().recorded == 35);
    CHECK(graphs.counts().dropped == 3);
    for (std::int64_t shape = 40; shape < 140; ++shape) use(shape), use(shape);
    CHECK(graphs.counts().recorded < 80);
    CHECK(graphs.note() == fmt::format("CUDA graphs: {} of {} parts of steps ran launch by launch, since their shapes "
                                       "rarely return",
                                       graphs.counts().direct, 34 * 2 + 3 + 200));
}

TEST_CASE("work that fails reaches the caller, recorded or not") {
    GraphBuffers on;
    StepGraphs graphs;
    const auto work = [&] { throw Error(ErrorKind::nonfinite, "the work fails"); };
    CHECK_THROWS_AS(graphs.run(on.exec, {1}, work), Error);
    CHECK_THROWS_AS(graphs.run(on.exec, {1}, work), Error);  // its recording fails, too
    CHECK(graphs.refusal() == "the work fails");
}
