// deft bench: how fast this machine tokenizes, reads, analyzes and reports; its other measures have files of their own.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "base/installed_files.h"
#include "base/json.h"
#include "base/median.h"
#include "base/process.h"
#include "engine/bench/analyzer.h"
#include "engine/bench/corpus.h"
#include "engine/bench/tokenizer.h"
#include "reporting/numbers.h"
#include "reporting/table.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/scratch_folder.h"
#include "sweeps/gate/report_bench.h"

namespace deft::cli {

namespace {

struct TokenizerArguments {
    std::string text;       // a file
    std::string tokenizer;  // a folder, or none for bytes
    int rounds = 9;
};

int run_tokenizer(const TokenizerArguments& arguments) {
    using engine::Tokenizer;
    const std::string text = read_text_file(arguments.text);
    if (text.empty()) throw Error(ErrorKind::usage, arguments.text + " is empty", "name a file with some text");
    std::vector<double> rates;
    std::string name;
    std::int32_t vocab = 0;
    const auto measure = [&](const auto& tokenizer) {
        for (int round = 0; round < arguments.rounds; ++round)
            rates.push_back(engine::tokenizer_rate(tokenizer, text));
    };
    const std::filesystem::path folder = arguments.tokenizer;
    if (!folder.empty() && find_text_file(folder / engine::kVocabTxt)) {
        const auto wordpiece = engine::load_wordpiece(folder);
        name = "WordPiece, uncased";
        vocab = wordpiece->vocab();
        measure(wordpiece);
    } else {
        const Tokenizer tokenizer = folder.empty() ? Tokenizer::bytes() : engine::load_tokenizer(folder);
        name = tokenizer.name();
        vocab = tokenizer.vocab();
        measure(tokenizer);
    }
    const auto megabytes = [](double bytes) { return fmt::format("{:.1f}", bytes / 1e6); };
    reporting::Table table;
    table.caption = fmt::format("Encoding on one thread, {} rounds", arguments.rounds);
    table.columns = {
        {"tokenizer", reporting::Align::left}, {"vocabulary"}, {"text, MB"}, {"median MB/s"}, {"best MB/s"}};
    table.rows = {{name, std::to_string(vocab), megabytes(static_cast<double>(text.size())),
                   megabytes(median(rates)), megabytes(*std::max_element(rates.begin(), rates.end()))}};
    print(table);
    return kExitOk;
}

struct CorpusArguments {
    std::string prefix;
    int rounds = 9;
};

int run_corpus(const CorpusArguments& arguments) {
    using reporting::si;
    const engine::CorpusRates rates = engine::corpus_rates(arguments.prefix, arguments.rounds);
    const double bytes = static_cast<double>(rates.bytes);
    reporting::Table table;
    table.caption = fmt::format("Summing all tokens of a mapped dataset on one thread, best of {} interleaved rounds",
                                arguments.rounds);
    table.columns = {{"tokens"}, {"bytes"}, {"opened in"}, {"first pass"}, {"hot"}, {"tokens/s"}, {"memory"}, {"of memory"}};
    table.rows = {{si(static_cast<double>(rates.tokens)), si(bytes, "B"), reporting::seconds(rates.open_seconds),
                   si(bytes / rates.first_seconds, "B/s"), si(bytes / rates.hot_seconds, "B/s"),
                   si(static_cast<double>(rates.tokens) / rates.hot_seconds),
                   si(bytes / rates.memory_seconds, "B/s"),
                   fmt::format("{:.2f}", rates.memory_seconds / rates.hot_seconds)}};
    table.notes.push_back("memory: the same number of bytes summed as 64-bit words of a buffer, in the same rounds. "
                          "opened: every length, offset and border checked. first pass: pages are mapped as they are read.");
    print(table);
    return kExitOk;
}

struct AnalyzerArguments {
    engine::AnalyzerBench bench;
    std::string python = "python3";
};

// NumPy's seconds a token over a part of the same corpus, best of as many rounds; nothing where that Python has none.
std::optional<double> numpy_seconds_a_token(const AnalyzerArguments& arguments, const std::filesystem::path& folder) {
    const auto& bench = arguments.bench;
    const std::int64_t tokens = std::min<std::int64_t>(bench.tokens, 1 << 24);
    const std::vector<std::string> command = {arguments.python, installed_file("engine/bench/analyzer_numpy.py"),
                                              (folder / "tokens.bin").string(), std::to_string(tokens),
                                              std::to_string(bench.seqlen), std::to_string(bench.vocab)};
    std::optional<double> best;
    for (int round = 0; round < bench.rounds; ++round) {
        ProcessOutput output;
        try {
            output = run_process(command);
        } catch (const Error&) {
            return {};  // no such program
        }
        const Json json = Json::parse(output.out, nullptr, false);
        if (output.exit_code != 0 || !json.is_object()) return {};
        const double seconds = json.at("seconds").get<double>() / static_cast<double>(tokens);
        best = std::min(best.value_or(seconds), seconds);
    }
    return best;
}

int run_analyzer(const AnalyzerArguments& arguments) {
    using reporting::si;
    const engine::AnalyzerBench& bench = arguments.bench;
    const ScratchFolder folder;
    const engine::AnalyzerRates rates = engine::analyzer_rates(bench, folder.path);
    const double tokens = static_cast<double>(bench.tokens), a_token = rates.both_seconds / tokens;
    const std::optional<double> numpy = numpy_seconds_a_token(arguments, folder.path);
    reporting::Table table;
    table.caption = fmt::format("Length and rarity of {} two-byte tokens, {} thread(s), best of {} interleaved rounds",
                                si(tokens), bench.threads, bench.rounds);
    table.columns = {{"tokens/s"}, {"tokens/CPU s"}, {"memory"}, {"of memory"}, {"against NumPy"}, {"index samples"},
                     {"ordered in"}, {"CPU"}, {"peak"}};
    table.rows = {{si(1 / a_token), si(tokens / rates.cpu_seconds), si(2 * tokens / rates.memory_seconds, "B/s"),
                   fmt::format("{:.2f}", 2 * rates.memory_seconds / rates.both_seconds),
                   numpy ? fmt::format("{:.1f}x", *numpy / a_token) : "-", si(static_cast<double>(bench.index_samples)),
                   reporting::seconds(rates.index_seconds), reporting::seconds(rates.index_cpu_seconds), si(static_cast<double>(rates.peak_bytes), "B")}};
    table.notes.push_back("tokens/s: both passes, their results synced to disk. memory: as many bytes summed as words on as "
                          "many threads. CPU s: of all threads together, which others on the machine hardly change; of memory: against reading the tokens twice. peak: resident, mapped files included.");
    table.notes.push_back(numpy ? "NumPy: the same passes in batches on one thread, over the first 2^24 tokens at most, best of as many rounds."
                                : "No NumPy to stand beside: name a Python that has it with --python.");
    print(table);
    return kExitOk;
}

int run_report(const sweeps::ReportBench& bench) {
    using reporting::seconds;
    const ScratchFolder folder;
    const sweeps::ReportTime time = sweeps::time_report(bench, folder.path);
    reporting::Table table;
    table.caption = fmt::format("HTML report of {} invented runs of {} points each, {} seeds a row", bench.runs,
                                bench.points, bench.seeds);
    table.columns = {{"read"}, {"render"}, {"together"}, {"page"}, {"filling the database"}};
    table.rows = {{seconds(time.read_seconds), seconds(time.render_seconds),
                   seconds(time.read_seconds + time.render_seconds),
                   reporting::si(static_cast<double>(time.page_bytes), "B"), seconds(time.write_seconds)}};
    print(table);
    return kExitOk;
}

}  // namespace

void add_bench(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("bench", "Measure how fast this machine trains, tokenizes, reads and reports");
    command->require_subcommand(1);
    add_bench_step(*command, context);
    add_bench_startup(*command, context);
    add_bench_slots(*command, context);
    add_bench_run(*command, context);
    add_bench_ab(*command, context);
    add_bench_import(*command, context);
    add_bench_history(*command, context);
    add_bench_gpu(*command, context);
    add_bench_sampler(*command, context);
    add_bench_scoring(*command, context);
    auto encoding = std::make_shared<TokenizerArguments>();
    CLI::App* tokenizer = command->add_subcommand("tokenizer", "Encoding text, one thread");
    tokenizer->add_option("--text", encoding->text, "A text file, plain, .gz or .zst")->required();
    tokenizer->add_option("--tokenizer", encoding->tokenizer,
                          "A folder with vocab.json and merges.txt, or with vocab.txt; bytes without");
    add_number(*tokenizer, "--rounds", encoding->rounds, "Rounds", 1, 100);
    tokenizer->callback([encoding, &context] { context.exit_code = run_tokenizer(*encoding); });
    auto reading = std::make_shared<CorpusArguments>();
    CLI::App* corpus = command->add_subcommand("corpus", "Reading a tokenised corpus, beside reading memory");
    corpus->add_option("--prefix", reading->prefix, "Of PREFIX.bin and PREFIX.idx, see deft data tokenize")->required();
    add_number(*corpus, "--rounds", reading->rounds, "Rounds", 1, 100);
    corpus->callback([reading, &context] { context.exit_code = run_corpus(*reading); });
    auto analysis = std::make_shared<AnalyzerArguments>();
    CLI::App* analyzer = command->add_subcommand("analyzer", "Difficulty of samples, beside reading memory and NumPy");
    engine::AnalyzerBench& bench = analysis->bench;
    add_number(*analyzer, "--tokens", bench.tokens, "Tokens", 4096, 1 << 30);
    add_number(*analyzer, "--seqlen", bench.seqlen, "Of a sample", 1, 1 << 20);
    add_number(*analyzer, "--samples", bench.index_samples, "To order", 0, 1 << 30);
    analyzer->add_option("--memory", bench.memory_bytes, "Bytes to order them in")->transform(CLI::AsSizeValue(false));
    add_threads(*analyzer, bench.threads);
    add_number(*analyzer, "--rounds", bench.rounds, "Rounds", 1, 100);
    analyzer->add_option("--python", analysis->python, "A Python with NumPy")->capture_default_str();
    analyzer->callback([analysis, &context] { context.exit_code = run_analyzer(*analysis); });
    auto report_bench = std::make_shared<sweeps::ReportBench>();
    CLI::App* report = command->add_subcommand("report", "The HTML report of a database of many runs");
    add_number(*report, "--runs", report_bench->runs, "Runs", 1, 100000);
    add_number(*report, "--points", report_bench->points, "Points of each", 1, 100000);
    add_number(*report, "--seeds", report_bench->seeds, "Seeds of each row", 1, 1000);
    report->callback([report_bench, &context] { context.exit_code = run_report(*report_bench); });
}

}  // namespace deft::cli
