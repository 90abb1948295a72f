// deft bench generate: tokens a second of generation, beside transformers on the same weights, in interleaved rounds.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/median.h"
#include "base/scratch_folder.h"
#include "engine/bench/generate.h"
#include "kernels/bench/cpu_peaks.h"
#include "reporting/numbers.h"
#include "reporting/table.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/driver/progress.h"
#include "sweeps/gate/huggingface_generate.h"

namespace deft::cli {

namespace {

struct BenchGenerateArguments {
    engine::GenerateBench bench;
    sweeps::RoundSettings rounds{.rounds = 8, .segment_seconds = 0.5, .seed = 0};
    std::vector<std::string> pythons;  // each has transformers
};

// One way to generate: seconds of its first token, the prompt's, and of all its tokens, a round each.
struct GenerateArm {
    std::string name;
    std::vector<double> first, all;
    std::size_t same = 0;  // of its tokens, how many from the first on are ours
};

// Seconds of each token after the first.
std::vector<double> decode_seconds(const GenerateArm& arm, const engine::GenerateBench& bench) {
    std::vector<double> seconds;
    for (std::size_t i = 0; i < arm.all.size(); ++i)
        seconds.push_back((arm.all[i] - arm.first[i]) / static_cast<double>(bench.samples * (bench.tokens - 1)));
    return seconds;
}

std::size_t same_tokens(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
    const auto end = a.begin() + static_cast<std::ptrdiff_t>(std::min(a.size(), b.size()));
    return static_cast<std::size_t>(std::mismatch(a.begin(), end, b.begin()).first - a.begin());
}

std::vector<GenerateArm> time_arms(const BenchGenerateArguments& arguments,
                                   const std::function<void(const std::string&, double)>& progress) {
    const engine::GenerateBench& bench = arguments.bench;
    const ScratchFolder scratch;
    progress("writing the model", -1);
    engine::write_model(bench, scratch.path / "model");
    engine::GenerateRun ours(bench, scratch.path / "model");
    std::vector<std::unique_ptr<sweeps::HuggingfaceWorker>> workers;
    std::vector<GenerateArm> arms = {{"deft", {}, {}, 0}};
    std::vector<sweeps::Contestant> contestants;
    for (const std::int64_t tokens : {std::int64_t{1}, bench.tokens})
        contestants.push_back({"", sweeps::mean_of_runs([&ours, tokens] { return ours.run(tokens); })});
    for (const std::string& python : arguments.pythons) {
        progress("starting " + python, -1);
        sweeps::HuggingfaceWorker& worker =
            *workers.emplace_back(std::make_unique<sweeps::HuggingfaceWorker>(python, bench, scratch.path / "model"));
        for (const std::int64_t tokens : {std::int64_t{1}, bench.tokens})
            contestants.push_back({"", [&worker, tokens](long runs) { return worker.run(tokens, runs); }});
        arms.push_back({"transformers " + worker.version(), {}, {}, 0});
    }
    std::vector<std::vector<double>> seconds =
        sweeps::time_in_rounds(contestants, arguments.rounds, [&](double done) { progress("generating", done); });
    for (std::size_t i = 0; i < arms.size(); ++i) {
        arms[i].first = std::move(seconds[2 * i]);
        arms[i].all = std::move(seconds[2 * i + 1]);
    }
    ours.run(bench.tokens);
    for (std::size_t i = 0; i < workers.size(); ++i) {
        workers[i]->run(bench.tokens, 1);
        arms[i + 1].same = same_tokens(ours.tokens(), workers[i]->tokens());
    }
    return arms;
}

reporting::Table generate_table(const std::vector<GenerateArm>& arms, const BenchGenerateArguments& arguments,
                                const kernels::MemoryPeak& memory) {
    using reporting::Align;
    const engine::GenerateBench& bench = arguments.bench;
    reporting::Table table;
    table.caption = fmt::format(
        "{} sample(s) of {} tokens after {}, {} layers, width {}, vocabulary {}, {} thread(s): median of {} "
        "interleaved "
        "rounds",
        bench.samples, bench.tokens, bench.prompt, bench.layers, bench.width, bench.vocab, bench.threads,
        arms.front().all.size());
    table.columns = {{"generator", Align::left}, {"prompt tokens/s"}, {"tokens/s"},   {"weights read"}, {"of memory"},
                     {"ours, prompt"},           {"ours, tokens"},    {"same tokens"}};
    const std::vector<double> our_tokens = decode_seconds(arms.front(), bench);
    for (const GenerateArm& arm : arms) {
        const std::vector<double> tokens = decode_seconds(arm, bench);
        const double read = engine::weight_bytes(bench) / median(tokens) / static_cast<double>(bench.samples);
        const bool is_ours = &arm == &arms.front();
        table.rows.push_back({arm.name, fmt::format("{:.0f}", static_cast<double>(bench.prompt) / median(arm.first)),
                              fmt::format("{:.1f}", 1 / median(tokens)), reporting::si(read, "B/s"),
                              fmt::format("{:.2f}", read / memory.read),
                              is_ours ? "1" : to_text(sweeps::time_ratio(arm.first, arms.front().first)) + "x",
                              is_ours ? "1" : to_text(sweeps::time_ratio(tokens, our_tokens)) + "x",
                              is_ours ? "-" : fmt::format("{} of {}", arm.same, bench.tokens)});
    }
    table.notes.push_back(
        fmt::format("tokens/s: of all samples, after the first token, which comes with the prompt. weights read: the "
                    "bytes of weights "
                    "that a step meets, times steps a second; of memory: of {} read in this run. Two numbers \"ours\": "
                    "how many times "
                    "as long as ours, Hodges-Lehmann over the rounds' ratios, 95% interval, orders from seed {}.",
                    reporting::si(memory.read, "B/s"), arguments.rounds.seed));
    return table;
}

int run_bench_generate(BenchGenerateArguments arguments) {
    arguments.rounds.seed = seed_or_drawn(arguments.rounds.seed);
    sweeps::ProgressLine line;
    const kernels::MemoryPeak memory = kernels::measure_memory_peak(arguments.bench.threads);
    const std::vector<GenerateArm> arms = time_arms(arguments, shown_on(line));
    line.clear();
    print(generate_table(arms, arguments, memory));
    return kExitOk;
}

}  // namespace

void add_bench_generate(CLI::App& bench, Context& context) {
    auto arguments = std::make_shared<BenchGenerateArguments>();
    CLI::App* generate = bench.add_subcommand(
        "generate", "Generation of text, beside the memory's speed and transformers, in interleaved rounds");
    engine::GenerateBench& sizes = arguments->bench;
    add_generation_sizes(*generate, sizes, 1);
    add_number(*generate, "--samples", sizes.samples, "Texts at once", 1, 4096);
    add_threads(*generate, sizes.threads);
    add_rounds(*generate, arguments->rounds);
    generate
        ->add_option("--python", arguments->pythons,
                     "A Python with transformers, timed in the same rounds; may be given again")
        ->allow_extra_args(false);
    generate->callback([arguments, &context] { context.exit_code = run_bench_generate(*arguments); });
}

}  // namespace deft::cli
