// deft bench generate: tokens a second of generation, beside transformers on the same weights, in interleaved rounds.

#include <fmt/format.h>

#include <algorithm>

#include "base/median.h"
#include "base/scratch_folder.h"
#include "engine/bench/generate.h"
#include "kernels/bench/cpu_peaks.h"
#include "reporting/numbers.h"
#include "sweeps/cli/contest.h"
#include "sweeps/gate/python_opponents.h"

namespace deft::cli {

namespace {

struct BenchGenerateArguments {
    engine::GenerateBench bench;
    sweeps::RoundSettings rounds{.rounds = 8, .segment_seconds = 0.5, .seed = 0};
    std::vector<std::string> pythons;  // each has transformers
};

// How many tokens from the first on are ours.
std::string same_tokens(const std::vector<std::int32_t>& ours, const std::vector<std::int32_t>& others) {
    const auto end = ours.begin() + static_cast<std::ptrdiff_t>(std::min(ours.size(), others.size()));
    return fmt::format("{} of {}", std::mismatch(ours.begin(), end, others.begin()).first - ours.begin(), ours.size());
}

// Two contestants a generator: its first token, the prompt's, and all of its tokens.
Measured time_generation(const BenchGenerateArguments& arguments, const sweeps::ShowProgress& progress) {
    const engine::GenerateBench& bench = arguments.bench;
    const kernels::MemoryPeak memory = kernels::measure_memory_peak(bench.threads);
    const ScratchFolder scratch;
    progress("writing the model", -1);
    engine::write_model(bench, scratch.path / "model");
    engine::GenerateRun ours(bench, scratch.path / "model");
    std::vector<std::unique_ptr<sweeps::LineWorker>> workers;
    std::vector<sweeps::Contestant> contestants;
    const auto add = [&](const std::string& name, const auto& run_of) {
        for (const std::int64_t tokens : {std::int64_t{1}, bench.tokens})
            contestants.push_back({{name}, run_of(tokens)});
    };
    add("deft",
        [&](std::int64_t tokens) { return sweeps::mean_of_runs([&ours, tokens] { return ours.run(tokens); }); });
    for (const std::string& python : arguments.pythons) {
        progress("starting " + python, -1);
        auto& worker = *workers.emplace_back(sweeps::start_huggingface(python, bench, scratch.path / "model"));
        add(fmt::format("transformers {}, torch {}", worker.said<std::string>("version"),
                        worker.said<std::string>("torch")),
            [&](std::int64_t tokens) { return worker.runs(std::to_string(tokens)); });
    }
    time_in_rounds(contestants, arguments.rounds, "generating", progress);

    using reporting::si;
    reporting::Table table;
    table.caption = fmt::format(
        "{} sample(s) of {} tokens after {}, {} layers, width {}, vocabulary {}, {} thread(s): median of {} "
        "interleaved rounds",
        bench.samples, bench.tokens, bench.prompt, bench.layers, bench.width, bench.vocab, bench.threads,
        contestants.front().seconds.size());
    table.columns = {{"generator", reporting::Align::left},
                     {"prompt tokens/s"},
                     {"tokens/s"},
                     {"weights read"},
                     {"of memory"},
                     {"ours, prompt"},
                     {"ours, tokens"},
                     {"same tokens"}};
    ours.run(bench.tokens);
    std::vector<double> our_tokens;
    for (std::size_t i = 0; i < contestants.size(); i += 2) {
        const std::vector<double>&first = contestants[i].seconds, &all = contestants[i + 1].seconds;
        std::vector<double> tokens;  // seconds of each token after the first
        for (std::size_t round = 0; round < all.size(); ++round)
            tokens.push_back((all[round] - first[round]) / static_cast<double>(bench.samples * (bench.tokens - 1)));
        if (i == 0) our_tokens = tokens;
        const double read = engine::weight_bytes(bench) / median(tokens) / static_cast<double>(bench.samples);
        table.rows.push_back(
            {contestants[i].names.front(), fmt::format("{:.0f}", static_cast<double>(bench.prompt) / median(first)),
             fmt::format("{:.1f}", 1 / median(tokens)), si(read, "B/s"), fmt::format("{:.2f}", read / memory.read),
             times_as_long(first, contestants.front().seconds), times_as_long(i == 0 ? our_tokens : tokens, our_tokens),
             "-"});
        if (i == 0) continue;
        sweeps::LineWorker& worker = *workers[i / 2 - 1];
        const Json answer = worker.ask(fmt::format("{} 1", bench.tokens));
        table.rows.back().back() = same_tokens(ours.tokens(), worker.part<std::vector<std::int32_t>>(answer, "tokens"));
    }
    table.notes.push_back(fmt::format(
        "tokens/s: of all samples, after the first token, which comes with the prompt. weights read: the bytes of "
        "weights that a step meets, times steps a second; of memory: of {} read in this run. Two numbers \"ours\": how "
        "many times as long as ours, {}.",
        si(memory.read, "B/s"), method_of_ratios(arguments.rounds)));
    return {{table}};
}

}  // namespace

Run bench_generate(CLI::App& command) {
    auto arguments = std::make_shared<BenchGenerateArguments>();
    engine::GenerateBench& sizes = arguments->bench;
    add_generation_sizes(command, sizes, 1);
    add_number(command, "--samples", sizes.samples, "Texts at once", 1, 4096);
    add_threads(command, sizes.threads);
    add_rounds(command, arguments->rounds);
    add_pythons(command, arguments->pythons, "transformers", "--python");
    return contest(arguments, time_generation);
}

}  // namespace deft::cli
