#include "sweeps/cli/data_tokens.h"
#include "sweeps/cli/options.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/stopwatch.h"
#include "engine/data/indexed_dataset.h"
#include "experiments/datasets/packed_dataset.h"
#include "experiments/datasets/tokenize.h"
#include "experiments/parse_samples.h"
#include "reporting/numbers.h"
#include "sweeps/cli/output.h"
#include "sweeps/driver/progress.h"

namespace deft::cli {

namespace {

namespace fs = std::filesystem;

struct TokenizeArguments {
    CorpusArguments corpus;
    std::string tokenizer = "bytes";
    std::int64_t vocab = 0;
    std::int64_t max_bytes = 0;
    std::string out;
    bool force = false;
};

struct TrainArguments {
    CorpusArguments corpus;
    std::int64_t vocab = 0;
    std::int64_t max_bytes = experiments::kTokenizerTrainingBytes;
    std::string out;
    bool force = false;
};

std::vector<fs::path> tokenizer_files(const fs::path& folder) {
    return {folder / "vocab.json", folder / "merges.txt", folder / "tokenizer.json"};
}

std::string bytes_text(std::int64_t bytes) {
    return reporting::si(static_cast<double>(bytes), "B");
}

int run_tokenize(const TokenizeArguments& arguments) {
    experiments::DataConfig data = arguments.corpus.data();
    set_tokenizer(data, arguments.tokenizer, arguments.vocab);
    data.max_bytes = arguments.max_bytes;
    const fs::path prefix = arguments.out;
    require_free({engine::bin_file(prefix), engine::idx_file(prefix)}, arguments.force);
    if (trains_tokenizer(data)) require_free(tokenizer_files(arguments.out + "_tokenizer"), arguments.force);
    sweeps::ProgressLine line;
    const auto progress = shown_on(line);
    const experiments::CorpusSource source = experiments::corpus_source(data, ".");
    const engine::Tokenizer tokenizer =
        trains_tokenizer(data)
            ? experiments::train_tokenizer(source, data, experiments::kTokenizerTrainingBytes, progress)
            : experiments::named_tokenizer(data.tokenizer, ".");
    if (prefix.has_parent_path()) make_folder(prefix.parent_path());
    const Clock::time_point start = Clock::now();
    const experiments::Tokenized done = experiments::write_tokens(source, data, tokenizer, prefix, progress);
    const double seconds = seconds_since(start);
    if (trains_tokenizer(data)) engine::write_tokenizer(tokenizer, arguments.out + "_tokenizer");
    line.clear();
    print(
        fmt::format("{}: {} documents, {} tokens, vocabulary of {}, {:.3f} bytes per token\n"
                    "  {} of text in {}, {}/s\n  {}\n  {}",
                    source.name, done.documents, done.tokens, tokenizer.vocab(),
                    static_cast<double>(done.bytes) / static_cast<double>(std::max<std::int64_t>(1, done.tokens)),
                    bytes_text(done.bytes), reporting::seconds(seconds),
                    reporting::si(static_cast<double>(done.bytes) / seconds, "B"), engine::bin_file(prefix).string(),
                    engine::idx_file(prefix).string()));
    if (trains_tokenizer(data)) print(fmt::format("  {}_tokenizer", arguments.out));
    return kExitOk;
}

int run_train(const TrainArguments& arguments) {
    experiments::DataConfig data = arguments.corpus.data();
    set_tokenizer(data, deft::name_of(experiments::BuiltInTokenizer::bpe), arguments.vocab);
    require_free(tokenizer_files(arguments.out), arguments.force);
    sweeps::ProgressLine line;
    const auto progress = shown_on(line);
    const experiments::CorpusSource source = experiments::corpus_source(data, ".");
    const Clock::time_point start = Clock::now();
    const engine::Tokenizer tokenizer =
        experiments::train_tokenizer(source, data, static_cast<std::size_t>(arguments.max_bytes), progress);
    const double seconds = seconds_since(start);
    engine::write_tokenizer(tokenizer, arguments.out);
    line.clear();
    print(fmt::format("{}: vocabulary of {}, trained on at most {} of {} in {}", arguments.out, tokenizer.vocab(),
                      bytes_text(arguments.max_bytes), source.name, reporting::seconds(seconds)));
    return kExitOk;
}

}  // namespace

void CorpusArguments::add_to(CLI::App& command) {
    command.add_option("--corpus", corpus, "A corpus of deft data list, or embedded");
    command.add_option("--text", text,
                       "Text files (one document each) or .jsonl files (key \"text\", one document per line), "
                       "also .gz or .zst");
}

experiments::DataConfig CorpusArguments::data() const {
    if (corpus.empty() == text.empty())
        throw Error(ErrorKind::usage, "give either --corpus or --text", "as in --corpus books, or --text a.txt b.txt");
    experiments::DataConfig data;
    using experiments::BuiltInCorpus;
    data.corpus = text.empty() ? corpus : deft::name_of(BuiltInCorpus::text);
    const std::optional<BuiltInCorpus> built_in = built_in_corpus(data);
    if (built_in == BuiltInCorpus::indexed || (built_in == BuiltInCorpus::text && text.empty()))
        throw Error(ErrorKind::usage, fmt::format("--corpus {} names no text", corpus), "name text files with --text");
    data.train_files = text;
    return data;
}

void set_tokenizer(experiments::DataConfig& data, const std::string& tokenizer, std::int64_t vocab) {
    data.tokenizer = tokenizer;
    data.vocab = vocab;
    if (trains_tokenizer(data) && vocab == 0)
        throw Error(ErrorKind::usage, "--tokenizer bpe requires a vocabulary size", "add --vocab 8192");
    if (!trains_tokenizer(data) && vocab != 0)
        throw Error(ErrorKind::usage,
                    fmt::format("--vocab has no effect with the tokenizer {}, which has its own vocabulary", tokenizer),
                    "drop --vocab, or give --tokenizer bpe");
}

void set_samples(experiments::DataConfig& data, const std::string& samples) {
    using experiments::SampleKind;
    const std::optional<SampleKind> kind = value_named<SampleKind>(samples);
    if (kind != SampleKind::packed && kind != SampleKind::bert)
        throw Error(ErrorKind::usage, fmt::format("--samples {} is unknown", samples), "use packed or bert");
    data.samples = *kind;
    const std::string why = experiments::tokenizer_problem(data);
    if (!why.empty())
        throw Error(ErrorKind::usage, fmt::format("--tokenizer {} {}", data.tokenizer, why),
                    fmt::format("give --tokenizer {}, a folder with vocab.txt, or a .txt file; or --samples packed",
                                experiments::kBertVocabulary));
}

void add_data_tokenize(CLI::App& data, Context& context) {
    auto arguments = std::make_shared<TokenizeArguments>();
    CLI::App* command =
        data.add_subcommand("tokenize", "Write a text corpus as a Megatron dataset, PREFIX.bin and PREFIX.idx");
    arguments->corpus.add_to(*command);
    command
        ->add_option("--tokenizer", arguments->tokenizer,
                     "bytes, gpt2, bpe, or a folder with vocab.json and merges.txt")
        ->capture_default_str();
    command
        ->add_option("--vocab", arguments->vocab, "Vocabulary size of bpe, which is trained on the first 16 MB of text")
        ->check(CLI::Range(257, 1'000'000));
    command->add_option("--max-bytes", arguments->max_bytes, "Maximum bytes of text")->check(at_least(1));
    command->add_option("--out", arguments->out, "PREFIX of the two files")->required();
    command->add_flag("--force", arguments->force, "Overwrite existing files");
    command->callback([arguments, &context] { context.exit_code = run_tokenize(*arguments); });
}

void add_data_train_tokenizer(CLI::App& data, Context& context) {
    auto arguments = std::make_shared<TrainArguments>();
    CLI::App* command = data.add_subcommand("train-tokenizer", "Train a byte-pair encoding on text");
    arguments->corpus.add_to(*command);
    command
        ->add_option("--vocab", arguments->vocab,
                     "Vocabulary size, including the 256 bytes and the end-of-document token")
        ->required()
        ->check(CLI::Range(257, 1'000'000));
    command
        ->add_option("--max-bytes", arguments->max_bytes,
                     "Maximum bytes of text to train on, from the start; kept in memory")
        ->capture_default_str()
        ->check(at_least(1));
    command->add_option("--out", arguments->out, "Output folder for vocab.json, merges.txt and tokenizer.json")
        ->required();
    command->add_flag("--force", arguments->force, "Overwrite existing files");
    command->callback([arguments, &context] { context.exit_code = run_train(*arguments); });
}

}  // namespace deft::cli
