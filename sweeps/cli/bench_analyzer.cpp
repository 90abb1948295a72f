// deft bench analyzer: how fast the difficulty of samples is measured, beside reading memory and NumPy.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "base/installed_files.h"
#include "base/json.h"
#include "base/process.h"
#include "base/scratch_folder.h"
#include "engine/bench/analyzer.h"
#include "reporting/numbers.h"
#include "sweeps/cli/contest.h"

namespace deft::cli {

namespace {

struct BenchAnalyzerArguments {
    engine::AnalyzerBench bench;
    std::string python = "python3";
};

// NumPy's seconds a token over a part of the same corpus, best of as many rounds; nothing where that Python has none.
std::optional<double> numpy_seconds_a_token(const BenchAnalyzerArguments& arguments,
                                            const std::filesystem::path& folder) {
    const auto& bench = arguments.bench;
    const std::int64_t tokens = std::min<std::int64_t>(bench.tokens, 1 << 24);
    const std::vector<std::string> command = {arguments.python,
                                              installed_file("engine/bench/analyzer_numpy.py"),
                                              (folder / "tokens.bin").string(),
                                              std::to_string(tokens),
                                              std::to_string(bench.seqlen),
                                              std::to_string(bench.vocab)};
    std::optional<double> best;
    for (int round = 0; round < bench.rounds; ++round) {
        ProcessOutput output;
        try {
            output = run_process(command);
        } catch (const Error&) {
            return {};  // no such program
        }
        const Json json = try_parse_json(output.out);
        if (output.exit_code != 0 || !json.is_object()) return {};
        const double seconds = json.at("seconds").get<double>() / static_cast<double>(tokens);
        best = std::min(best.value_or(seconds), seconds);
    }
    return best;
}

Measured time_analyzer(const BenchAnalyzerArguments& arguments, const sweeps::ShowProgress&) {
    using reporting::si;
    const engine::AnalyzerBench& bench = arguments.bench;
    const ScratchFolder folder;
    const engine::AnalyzerRates rates = engine::analyzer_rates(bench, folder.path);
    const double tokens = static_cast<double>(bench.tokens), a_token = rates.both_seconds / tokens;
    const std::optional<double> numpy = numpy_seconds_a_token(arguments, folder.path);
    reporting::Table table;
    table.caption = fmt::format("Length and rarity of {} two-byte tokens, {} thread(s), best of {} interleaved rounds",
                                si(tokens), bench.threads, bench.rounds);
    table.columns = {{"tokens/s"},      {"tokens/CPU s"}, {"memory"}, {"of memory"}, {"against NumPy"},
                     {"index samples"}, {"ordered in"},   {"CPU"},    {"peak"}};
    table.rows = {{si(1 / a_token), si(tokens / rates.cpu_seconds), si(2 * tokens / rates.memory_seconds, "B/s"),
                   fmt::format("{:.2f}", 2 * rates.memory_seconds / rates.both_seconds),
                   numpy ? fmt::format("{:.1f}x", *numpy / a_token) : "-", si(static_cast<double>(bench.index_samples)),
                   reporting::seconds(rates.index_seconds), reporting::seconds(rates.index_cpu_seconds),
                   si(static_cast<double>(rates.peak_bytes), "B")}};
    table.notes.push_back(
        "tokens/s: both passes, their results synced to disk. memory: as many bytes summed as words on as "
        "many threads. CPU s: of all threads together, which others on the machine hardly change; of memory: against "
        "reading the tokens twice. peak: resident, mapped files included.");
    table.notes.push_back(numpy ? "NumPy: the same passes in batches on one thread, over the first 2^24 tokens at "
                                  "most, best of as many rounds."
                                : "Not compared with NumPy: name a Python that has it with --python.");
    return {{table}};
}

}  // namespace

Run bench_analyzer(CLI::App& command) {
    auto arguments = std::make_shared<BenchAnalyzerArguments>();
    engine::AnalyzerBench& sizes = arguments->bench;
    add_number(command, "--tokens", sizes.tokens, "Tokens of the invented corpus", 4096, 1 << 30);
    add_number(command, "--seqlen", sizes.seqlen, "Tokens of a sample", 1, 1 << 20);
    add_number(command, "--samples", sizes.index_samples, "Samples to order; 0: none", 0, 1 << 30);
    command.add_option("--memory", sizes.memory_bytes, "Bytes of memory to order them in")
        ->transform(CLI::AsSizeValue(false));
    add_threads(command, sizes.threads);
    add_number(command, "--rounds", sizes.rounds, "Interleaved rounds", 1, 100);
    command.add_option("--python", arguments->python, "A Python with NumPy")->capture_default_str();
    return contest(arguments, time_analyzer);
}

}  // namespace deft::cli
