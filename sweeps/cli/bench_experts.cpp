// deft bench experts: a layer of experts beside the dense layer of equally many FLOPs a row, and both in PyTorch.

#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "base/median.h"
#include "engine/bench/expert_layer.h"
#include "reporting/numbers.h"
#include "reporting/table.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/driver/progress.h"
#include "sweeps/gate/interleaved_rounds.h"
#include "sweeps/gate/pytorch_experts.h"

namespace deft::cli {

namespace {

struct BenchExpertsArguments {
    engine::ExpertLayerBench bench;
    sweeps::RoundSettings rounds{.rounds = 12, .segment_seconds = 0.3, .seed = 0};
    std::vector<std::string> pythons;  // each has torch
};

// A layer: seconds of a forward and backward pass, a round each. baseline: the dense layer of the same program.
struct ExpertLayerArm {
    std::string program, layer;
    std::size_t baseline = 0;
    std::vector<double> seconds;
};

struct ExpertTimes {
    std::vector<ExpertLayerArm> arms;  // deft's dense layer, its experts, then those of each PyTorch
    double routing_share = 0;          // median, of the experts' pass
    double busiest_load = 1;
};

ExpertTimes time_layers(const BenchExpertsArguments& arguments,
                        const std::function<void(const std::string&, double)>& progress) {
    engine::LayerRun dense(arguments.bench, engine::TimedLayer::dense);
    engine::LayerRun experts(arguments.bench, engine::TimedLayer::experts);
    ExpertTimes times;
    std::vector<sweeps::Contestant> contestants;
    const auto add_ours = [&](engine::LayerRun& run, const std::string& layer) {
        times.arms.push_back({"deft", layer, 0, {}});
        contestants.push_back({layer, sweeps::mean_of_runs([&run] { return run.run(); })});
    };
    add_ours(dense, "dense");
    add_ours(experts, "experts");
    std::vector<std::unique_ptr<sweeps::PytorchExpertsWorker>> workers;
    for (const std::string& python : arguments.pythons) {
        progress("starting " + python, -1);
        auto& worker = *workers.emplace_back(std::make_unique<sweeps::PytorchExpertsWorker>(python, arguments.bench));
        const std::size_t baseline = times.arms.size();  // its dense layer is its first mode
        for (const std::string& mode : worker.modes()) {
            times.arms.push_back({"PyTorch " + worker.version(), mode, baseline, {}});
            contestants.push_back({mode, [&worker, mode](long runs) { return worker.run(mode, runs); }});
        }
    }
    std::vector<std::vector<double>> seconds =
        sweeps::time_in_rounds(contestants, arguments.rounds, [&](double done) { progress("timing layers", done); });
    for (std::size_t i = 0; i < times.arms.size(); ++i) times.arms[i].seconds = std::move(seconds[i]);
    std::vector<double> shares;
    for (int i = 0; i < arguments.rounds.rounds; ++i) shares.push_back(experts.routing_share());
    times.routing_share = median(shares);
    times.busiest_load = experts.busiest_load();
    if (!dense.is_sane() || !experts.is_sane())
        throw Error(ErrorKind::data, "a gradient is not finite, or zero: what was timed was no pass");
    return times;
}

reporting::Table layers_table(const ExpertTimes& times, const BenchExpertsArguments& arguments) {
    using reporting::Align;
    const engine::ExpertLayerBench& bench = arguments.bench;
    reporting::Table table;
    table.caption = fmt::format(
        "{} rows, width {}, {} experts of {} hidden values, top-{} routing, {} thread(s): forward and backward, "
        "median of {} interleaved rounds",
        bench.rows, bench.width, bench.experts, bench.hidden, bench.top, bench.threads,
        times.arms.front().seconds.size());
    table.columns = {{"program", Align::left}, {"layer", Align::left}, {"ms"}, {"of its dense"}, {"of our experts"}};
    for (std::size_t i = 0; i < times.arms.size(); ++i) {
        const ExpertLayerArm& arm = times.arms[i];
        const auto ratio = [&](std::size_t other) {
            return other == i ? "1" : to_text(sweeps::time_ratio(arm.seconds, times.arms[other].seconds)) + "x";
        };
        table.rows.push_back(
            {arm.program, arm.layer, fmt::format("{:.3f}", 1e3 * median(arm.seconds)), ratio(arm.baseline), ratio(1)});
    }
    table.notes.push_back(
        fmt::format("dense: as many FLOPs a row. experts, loop: no choice is dropped; ours routes {} of an equal share "
                    "to its busiest "
                    "expert. masks: padded to the capacity of factor 1, what is beyond it dropped. Gate, losses, "
                    "positions, dispatch and "
                    "combine with their gradients take {} of our experts' pass. of its dense, of our experts: times as "
                    "long as those, "
                    "Hodges-Lehmann over the rounds' ratios, 95% interval, orders from seed {}.",
                    fmt::format("{:.2f}", times.busiest_load), fmt::format("{:.1f}%", 100 * times.routing_share),
                    arguments.rounds.seed));
    return table;
}

int run_bench_experts(BenchExpertsArguments arguments) {
    arguments.rounds.seed = seed_or_drawn(arguments.rounds.seed);
    sweeps::ProgressLine line;
    const ExpertTimes times = time_layers(arguments, shown_on(line));
    line.clear();
    print(layers_table(times, arguments));
    return kExitOk;
}

}  // namespace

void add_bench_experts(CLI::App& bench, Context& context) {
    auto arguments = std::make_shared<BenchExpertsArguments>();
    CLI::App* command = bench.add_subcommand(
        "experts", "A layer of experts beside the dense layer of equally many FLOPs, and both in PyTorch");
    engine::ExpertLayerBench& sizes = arguments->bench;
    add_number(*command, "--rows", sizes.rows, "Rows of a pass", 1, 1 << 20);
    add_number(*command, "--width", sizes.width, "Width of the model", 1, 1 << 16);
    add_number(*command, "--hidden", sizes.hidden, "Hidden values of an expert", 1, 1 << 18);
    add_number(*command, "--experts", sizes.experts, "Experts", 1, 1 << 12);
    add_number(*command, "--top", sizes.top, "Experts that a row takes", 1, 1 << 12);
    command
        ->add_option("--pytorch", arguments->pythons,
                     "A Python with torch, timed in the same rounds; may be given again")
        ->allow_extra_args(false);
    add_threads(*command, sizes.threads);
    add_rounds(*command, arguments->rounds);
    command->callback([arguments, &context] { context.exit_code = run_bench_experts(*arguments); });
}

}  // namespace deft::cli
