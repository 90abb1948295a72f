// deft bench moe-inference: time of a token and weights that it reads, with experts and without, against how many texts
// go on at once.

#include <fmt/format.h>

#include <memory>

#include "base/median.h"
#include "engine/bench/expert_inference.h"
#include "kernels/bench/cpu_peaks.h"
#include "reporting/numbers.h"
#include "reporting/table.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/driver/progress.h"
#include "sweeps/gate/interleaved_rounds.h"

namespace deft::cli {

namespace {

struct BenchMoeInferenceArguments {
    engine::ExpertInferenceBench bench;
    std::vector<std::int64_t> samples = {1, 4, 16};
    sweeps::RoundSettings rounds{.rounds = 8, .segment_seconds = 0.3, .seed = 0};
};

// One model and number of texts: seconds of a token of all of them, a round each, and what a pass reads.
struct InferenceArm {
    std::string model;
    std::int64_t samples = 1;
    std::vector<double> seconds;
    engine::WeightsRead read;
};

// Models are grouped by the number of texts, in the order of inference_models().
std::vector<InferenceArm> time_inference(const BenchMoeInferenceArguments& arguments,
                                         const std::function<void(const std::string&, double)>& progress) {
    std::vector<InferenceArm> arms;
    std::vector<std::unique_ptr<engine::InferenceRun>> runs;
    std::vector<sweeps::Contestant> contestants;
    for (const std::int64_t samples : arguments.samples)
        for (const engine::InferenceModel& model : engine::inference_models(arguments.bench)) {
            progress(fmt::format("counting what {} reads", model.name), -1);
            auto& run =
                *runs.emplace_back(std::make_unique<engine::InferenceRun>(arguments.bench, model.config, samples));
            arms.push_back({model.name, samples, {}, run.weights_read()});
            contestants.push_back({model.name, sweeps::mean_of_runs([&run] { return run.run(); })});
        }
    std::vector<std::vector<double>> seconds =
        sweeps::time_in_rounds(contestants, arguments.rounds, [&](double done) { progress("generating", done); });
    for (std::size_t i = 0; i < arms.size(); ++i)
        for (const double of_text : seconds[i])
            arms[i].seconds.push_back(of_text / static_cast<double>(arguments.bench.tokens - 1));
    return arms;
}

reporting::Table inference_table(const std::vector<InferenceArm>& arms, const BenchMoeInferenceArguments& arguments,
                                 const kernels::MemoryPeak& memory) {
    using reporting::Align;
    const engine::ExpertInferenceBench& bench = arguments.bench;
    const std::size_t models = engine::inference_models(bench).size();
    reporting::Table table;
    table.caption = fmt::format(
        "{} layers, width {}, vocabulary {}, {} experts in every second layer, top-{} routing, {} thread(s): "
        "median of {} interleaved rounds",
        bench.layers, bench.width, bench.vocab, bench.experts, bench.top, bench.threads, arms.front().seconds.size());
    table.columns = {{"texts"},        {"model", Align::left}, {"ms a token"}, {"tokens/s"},    {"weights read"},
                     {"experts read"}, {"of memory"},          {"of dense"},   {"of dense, 4x"}};
    for (std::size_t i = 0; i < arms.size(); ++i) {
        const InferenceArm& arm = arms[i];
        const std::size_t first = i - i % models;  // of the same number of texts
        const double seconds = median(arm.seconds);
        const auto ratio = [&](std::size_t other) {
            return other == i ? "1" : to_text(sweeps::time_ratio(arm.seconds, arms[other].seconds)) + "x";
        };
        table.rows.push_back(
            {std::to_string(arm.samples), arm.model, fmt::format("{:.3f}", 1e3 * seconds),
             fmt::format("{:.1f}", static_cast<double>(arm.samples) / seconds), reporting::si(arm.read.bytes, "B"),
             arm.read.experts_touched == 0 ? "-" : fmt::format("{:.2f} of {}", arm.read.experts_touched, bench.experts),
             fmt::format("{:.2f}", arm.read.bytes / seconds / memory.read), ratio(first), ratio(first + models - 1)});
    }
    table.notes.push_back(fmt::format(
        "Weights are random ones, and so is what the gates choose: a trained gate may spread texts less evenly. ms a "
        "token: a "
        "pass of one token of each text, after a prompt of {}. weights read: by a pass, on average over {} of them; "
        "with "
        "experts those that any text chose. of memory: bytes read a second, of {} read in this run. of dense, of "
        "dense, 4x: "
        "times as long as those, Hodges-Lehmann over the rounds' ratios, 95% interval, orders from seed {}.",
        bench.prompt, bench.tokens - 1, reporting::si(memory.read, "B/s"), arguments.rounds.seed));
    return table;
}

int run_bench_moe_inference(BenchMoeInferenceArguments arguments) {
    arguments.rounds.seed = seed_or_drawn(arguments.rounds.seed);
    sweeps::ProgressLine line;
    const kernels::MemoryPeak memory = kernels::measure_memory_peak(arguments.bench.threads);
    const std::vector<InferenceArm> arms = time_inference(arguments, shown_on(line));
    line.clear();
    print(inference_table(arms, arguments, memory));
    return kExitOk;
}

}  // namespace

void add_bench_moe_inference(CLI::App& bench, Context& context) {
    auto arguments = std::make_shared<BenchMoeInferenceArguments>();
    CLI::App* command = bench.add_subcommand("moe-inference",
                                             "A token's time and the weights it reads, with experts, without, and of "
                                             "the dense model of four times the weights");
    engine::ExpertInferenceBench& sizes = arguments->bench;
    add_generation_sizes(*command, sizes, 2);
    add_number(*command, "--experts", sizes.experts, "Experts in every second layer, of an even number of layers", 1,
               1 << 12);
    add_number(*command, "--top", sizes.top, "Experts that a token takes", 1, 1 << 12);
    command->add_option("--samples", arguments->samples, "Texts at once; several numbers, separated by commas")
        ->capture_default_str()
        ->delimiter(',')
        ->check(CLI::Range(1, 4096));
    add_threads(*command, sizes.threads);
    add_rounds(*command, arguments->rounds);
    command->callback([arguments, &context] { context.exit_code = run_bench_moe_inference(*arguments); });
}

}  // namespace deft::cli
