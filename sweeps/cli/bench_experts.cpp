// deft bench experts: a layer of experts beside the dense layer of equally many FLOPs a row, and both in PyTorch.

#include <fmt/format.h>

#include "base/error.h"
#include "base/median.h"
#include "engine/bench/expert_layer.h"
#include "sweeps/cli/contest.h"
#include "sweeps/gate/python_opponents.h"

namespace deft::cli {

namespace {

struct BenchExpertsArguments {
    engine::ExpertLayerBench bench;
    sweeps::RoundSettings rounds{.rounds = 12, .segment_seconds = 0.3, .seed = 0};
    std::vector<std::string> pythons;  // each has torch
};

Measured time_experts(const BenchExpertsArguments& arguments, const sweeps::ShowProgress& progress) {
    constexpr std::size_t kDense = 0, kExperts = 1;  // ours
    const engine::ExpertLayerBench& bench = arguments.bench;
    engine::LayerRun dense(bench, engine::TimedLayer::dense), experts(bench, engine::TimedLayer::experts);
    const auto cells = [](double seconds) { return std::vector{fmt::format("{:.3f}", 1e3 * seconds)}; };
    std::vector<sweeps::Contestant> layers = {
        {{"deft", "dense"}, sweeps::mean_of_runs([&] { return dense.run(); }), cells, {kDense, kExperts}},
        {{"deft", "experts"}, sweeps::mean_of_runs([&] { return experts.run(); }), cells, {kDense, kExperts}}};
    std::vector<std::unique_ptr<sweeps::LineWorker>> workers;
    for (const std::string& python : arguments.pythons) {
        progress("starting " + python, -1);
        sweeps::LineWorker& worker = *workers.emplace_back(sweeps::start_pytorch_experts(python, bench));
        const std::string program = "PyTorch " + worker.said<std::string>("version");
        const std::size_t its_dense = layers.size();  // its first mode
        for (const auto& mode : worker.said<std::vector<std::string>>("modes"))
            layers.push_back({{program, mode}, worker.runs(mode), cells, {its_dense, kExperts}});
    }
    time_in_rounds(layers, arguments.rounds, "timing layers", progress);
    std::vector<double> shares;
    for (int i = 0; i < arguments.rounds.rounds; ++i) shares.push_back(experts.routing_share());
    if (!dense.is_sane() || !experts.is_sane())
        throw Error(ErrorKind::data, "a gradient is not finite, or zero: what was timed was no pass");

    using reporting::Align;
    reporting::Table table;
    table.caption = fmt::format(
        "{} rows, width {}, {} experts of {} hidden values, top-{} routing, {} thread(s): forward and backward, "
        "median of {} interleaved rounds",
        bench.rows, bench.width, bench.experts, bench.hidden, bench.top, bench.threads, layers.front().seconds.size());
    table.columns = {{"program", Align::left}, {"layer", Align::left}, {"ms"}, {"of its dense"}, {"of our experts"}};
    add_rows(table, layers);
    table.notes.push_back(fmt::format(
        "dense: as many FLOPs a row. experts, loop: no choice is dropped; ours routes {:.2f} of an equal share to its "
        "busiest expert. masks: padded to the capacity of factor 1, what is beyond it dropped. Gate, losses, "
        "positions, dispatch and combine with their gradients take {:.1f}% of our experts' pass. of its dense, of our "
        "experts: times as long as those, {}.",
        experts.busiest_load(), 100 * median(shares), method_of_ratios(arguments.rounds)));
    return {{table}};
}

}  // namespace

Run bench_experts(CLI::App& command) {
    auto arguments = std::make_shared<BenchExpertsArguments>();
    engine::ExpertLayerBench& sizes = arguments->bench;
    add_number(command, "--rows", sizes.rows, "Rows of a pass", 1, 1 << 20);
    add_number(command, "--width", sizes.width, "Width of the model", 1, 1 << 16);
    add_number(command, "--hidden", sizes.hidden, "Hidden values of an expert", 1, 1 << 18);
    add_number(command, "--experts", sizes.experts, "Experts", 1, 1 << 12);
    add_number(command, "--top", sizes.top, "Experts that a row takes", 1, 1 << 12);
    add_pythons(command, arguments->pythons);
    add_threads(command, sizes.threads);
    add_rounds(command, arguments->rounds);
    return contest(arguments, time_experts);
}

}  // namespace deft::cli
