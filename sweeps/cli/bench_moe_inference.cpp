// deft bench moe-inference: time of a token and weights that it reads, with experts and without, against how many texts
// go on at once.

#include <fmt/format.h>

#include "engine/bench/expert_inference.h"
#include "kernels/bench/cpu_peaks.h"
#include "reporting/numbers.h"
#include "sweeps/cli/contest.h"

namespace deft::cli {

namespace {

struct BenchMoeInferenceArguments {
    engine::ExpertInferenceBench bench;
    std::vector<std::int64_t> samples = {1, 4, 16};
    sweeps::RoundSettings rounds{.rounds = 8, .segment_seconds = 0.3, .seed = 0};
};

Measured time_inference(const BenchMoeInferenceArguments& arguments, const sweeps::ShowProgress& progress) {
    using reporting::si;
    const engine::ExpertInferenceBench& bench = arguments.bench;
    const kernels::MemoryPeak memory = kernels::measure_memory_peak(bench.threads);
    const std::vector<engine::InferenceModel> models = engine::inference_models(bench);
    std::vector<std::unique_ptr<engine::InferenceRun>> runs;
    std::vector<sweeps::Contestant> contestants;
    for (const std::int64_t samples : arguments.samples) {
        const std::size_t dense = contestants.size(), wider = dense + models.size() - 1;
        for (const engine::InferenceModel& model : models) {
            progress(fmt::format("counting what {} reads", model.name), -1);
            auto& run = *runs.emplace_back(std::make_unique<engine::InferenceRun>(bench, model.config, samples));
            const auto cells = [&bench, &memory, samples, read = run.weights_read()](double of_texts) {
                const double seconds = of_texts / static_cast<double>(bench.tokens - 1);
                return std::vector{
                    fmt::format("{:.3f}", 1e3 * seconds), fmt::format("{:.1f}", static_cast<double>(samples) / seconds),
                    si(read.bytes, "B"),
                    read.experts_touched == 0 ? "-" : fmt::format("{:.2f} of {}", read.experts_touched, bench.experts),
                    fmt::format("{:.2f}", read.bytes / seconds / memory.read)};
            };
            contestants.push_back({{std::to_string(samples), model.name},
                                   sweeps::mean_of_runs([&run] { return run.run(); }),
                                   cells,
                                   {dense, wider}});
        }
    }
    time_in_rounds(contestants, arguments.rounds, "generating", progress);

    reporting::Table table;
    table.caption = fmt::format(
        "{} layers, width {}, vocabulary {}, {} experts in every second layer, top-{} routing, {} thread(s): "
        "median of {} interleaved rounds",
        bench.layers, bench.width, bench.vocab, bench.experts, bench.top, bench.threads,
        contestants.front().seconds.size());
    table.columns = {{"texts"},        {"model", reporting::Align::left},
                     {"ms a token"},   {"tokens/s"},
                     {"weights read"}, {"experts read"},
                     {"of memory"},    {"of dense"},
                     {"of dense, 4x"}};
    add_rows(table, contestants);
    table.notes.push_back(fmt::format(
        "Weights are random ones, and so is what the gates choose: a trained gate may spread texts less evenly. ms a "
        "token: a pass of one token of each text, after a prompt of {}. weights read: by a pass, on average over {} of "
        "them; with experts those that any text chose. of memory: bytes read a second, of {} read in this run. of "
        "dense, of dense, 4x: times as long as those, {}.",
        bench.prompt, bench.tokens - 1, si(memory.read, "B/s"), method_of_ratios(arguments.rounds)));
    return {{table}};
}

}  // namespace

Run bench_moe_inference(CLI::App& command) {
    auto arguments = std::make_shared<BenchMoeInferenceArguments>();
    engine::ExpertInferenceBench& sizes = arguments->bench;
    add_generation_sizes(command, sizes, 2);
    add_number(command, "--experts", sizes.experts, "Experts in every second layer, of an even number of layers", 1,
               1 << 12);
    add_number(command, "--top", sizes.top, "Experts that a token takes", 1, 1 << 12);
    command.add_option("--samples", arguments->samples, "Texts at once; several numbers, separated by commas")
        ->capture_default_str()
        ->delimiter(',')
        ->check(CLI::Range(1, 4096));
    add_threads(command, sizes.threads);
    add_rounds(command, arguments->rounds);
    return contest(arguments, time_inference);
}

}  // namespace deft::cli
