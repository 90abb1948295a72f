// deft analyze: the difficulty of a corpus's samples, by the metrics of a sweep's curricula.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/stopwatch.h"
#include "base/usable_machine.h"
#include "engine/data_efficiency/sampling/deepspeed_index.h"
#include "engine/data_efficiency/sampling/difficulty_index.h"
#include "engine/io/npy.h"
#include "experiments/curriculum_entries.h"
#include "experiments/datasets/difficulty.h"
#include "experiments/datasets/packed_dataset.h"
#include "experiments/sample_losses.h"
#include "reporting/numbers.h"
#include "reporting/table.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/data_tokens.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/driver/progress.h"
#include "sweeps/driver/root.h"

namespace deft::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* kPerplexity = "perplexity";

struct AnalyzeArguments {
    SpecArguments spec;
    CorpusArguments corpus;
    std::vector<std::string> metrics;  // empty: those of the sweep's curricula, or voc for a corpus
    std::int64_t seqlen = 0;
    std::string samples = "packed";
    std::string tokenizer = "bytes";
    std::int64_t vocab = 0;
    std::string checkpoint, column, from_deepspeed, deepspeed_out, column_out;
    std::string shard;
    bool reduce = false;
    int threads = 0;
    std::int64_t memory_bytes = std::int64_t{1} << 30;
    std::string root = sweeps::kDefaultRoot;
};

// ---- the table of difficulties

struct DifficultyRow {
    std::string corpus, metric;
    std::int64_t seqlen = 0;
    engine::DifficultyIndex index;
    std::optional<double> seconds;  // of an analysis; none: found
    bool has_values = true;         // false if the index has only the order
};

reporting::Table difficulty_table() {
    using reporting::Align;
    reporting::Table table;
    table.caption = "Difficulty of the training samples";
    table.columns = {{"corpus", Align::left}, {"metric", Align::left}, {"length"}, {"samples"}, {"min"}};
    for (int decile = 1; decile < 10; ++decile) table.columns.push_back({fmt::format("{} %", 10 * decile)});
    table.columns.insert(table.columns.end(), {{"max"}, {"distinct"}, {"time"}, {"samples/s"}});
    table.key_columns = 3;
    table.notes.push_back(
        "n %: the largest difficulty among the easiest n % of the samples. found: read from an earlier analysis. "
        "Metrics of one corpus are analyzed together and share their time.");
    return table;
}

void add_row(reporting::Table& table, const DifficultyRow& row) {
    const engine::DifficultyIndex& index = row.index;
    const std::int64_t samples = index.samples();
    std::int64_t distinct = 1;
    for (std::int64_t rank = 1; rank < samples; ++rank)
        distinct += index.sorted_value(rank) != index.sorted_value(rank - 1);
    std::vector<reporting::Cell> cells = {row.corpus, row.metric + (row.has_values ? "" : " (order only)"),
                                          std::to_string(row.seqlen), std::to_string(samples)};
    // The largest value per tenth of the samples, the easiest first; the order is cut at an exact count.
    for (int decile = 0; decile <= 10; ++decile) {
        cells.push_back(index.sorted_text(std::max<std::int64_t>(0, (samples * decile + 9) / 10 - 1)));
    }
    cells.push_back(std::to_string(distinct));
    cells.push_back(row.seconds ? reporting::short_seconds(*row.seconds) : "found");
    cells.push_back(row.seconds ? reporting::si(static_cast<double>(samples) / *row.seconds) : "-");
    table.rows.push_back(std::move(cells));
}

// ---- corpora and metrics

// The request for one corpus at one sample length.
struct Analysis {
    experiments::DataConfig data;
    std::string base_folder;
    std::vector<std::string> metrics;
    std::int64_t seqlen = 0;
    bool has_column = false;  // a curriculum uses a column: values of another tool, one per sample
};

bool is_foreign(const AnalyzeArguments& arguments) {
    return !arguments.column.empty() || !arguments.from_deepspeed.empty() || !arguments.checkpoint.empty();
}

std::vector<std::string> metrics_of(const experiments::TrialConfig& config) {
    std::vector<std::string> names;
    if (!config.curriculum) return names;
    for (const experiments::CurriculumMetric& metric : config.curriculum->metrics)
        if (experiments::orders_samples(metric) && metric.column.empty()) names.push_back(metric.entry->measure);
    return names;
}

bool has_column(const experiments::TrialConfig& config) {
    return config.curriculum && std::any_of(config.curriculum->metrics.begin(), config.curriculum->metrics.end(),
                                            [](const auto& metric) { return !metric.column.empty(); });
}

// The corpora of the chosen trials at their sample lengths, in the order of the trials. A missing column is not an
// error, because this command may create it.
std::vector<Analysis> of_sweep(const AnalyzeArguments& arguments) {
    std::vector<Analysis> analyses;
    for (const sweeps::Trial& trial : sweeps::expand(arguments.spec.load(), sweeps::Data::may_be_missing)) {
        const experiments::TrialConfig& config = trial.config;
        if (!arguments.spec.selects(trial) || experiments::is_imported(config)) continue;
        auto found = std::find_if(analyses.begin(), analyses.end(), [&](const Analysis& a) {
            return a.data.sha256 == config.data.sha256 && a.data.bert == config.data.bert &&
                   a.seqlen == config.model.seqlen;
        });
        if (found == analyses.end())
            found = analyses.insert(found,
                                    {config.data, config.base_folder, arguments.metrics, config.model.seqlen, false});
        found->has_column = found->has_column || has_column(config);
        if (found->data.sha256 == experiments::kDataMissing)
            found->data.sha256.clear();  // opening the corpus reports the missing files
        if (!arguments.metrics.empty()) continue;
        for (const std::string& name : metrics_of(config))
            if (std::find(found->metrics.begin(), found->metrics.end(), name) == found->metrics.end())
                found->metrics.push_back(name);
    }
    if (!is_foreign(arguments))
        std::erase_if(analyses, [](const Analysis& a) { return a.metrics.empty() && !a.has_column; });
    return analyses;
}

Analysis of_corpus(const AnalyzeArguments& arguments) {
    if (arguments.seqlen == 0) throw Error(ErrorKind::usage, "a corpus requires a sample length", "add --seqlen 1024");
    Analysis analysis{arguments.corpus.data(), ".", arguments.metrics, arguments.seqlen, false};
    if (analysis.metrics.empty()) analysis.metrics = {"voc"};
    set_tokenizer(analysis.data, arguments.tokenizer, arguments.vocab);
    set_samples(analysis.data, arguments.samples);
    return analysis;
}

// "2/5" is the second shard of five.
engine::Shard parse_shard(const std::string& text) {
    engine::Shard shard{0, 0};
    const char* end = text.data() + text.size();
    const auto first = std::from_chars(text.data(), end, shard.index);
    if (first.ec == std::errc() && first.ptr != end && *first.ptr == '/') {
        const auto second = std::from_chars(first.ptr + 1, end, shard.count);
        if (second.ec == std::errc() && second.ptr == end && shard.index >= 1 && shard.index <= shard.count)
            return {shard.index - 1, shard.count};
    }
    throw Error(ErrorKind::usage, fmt::format("--shard {} is not a shard", text), "write it as in --shard 2/5");
}

bool is_of_bert(const Analysis& analysis) {
    return analysis.data.samples == experiments::SampleKind::bert;
}

[[noreturn]] void refuse_bert_perplexity() {
    throw Error(ErrorKind::usage, "perplexity requires a causal language model, and BERT samples train a masked one",
                "choose packed samples");
}

void check(const AnalyzeArguments& arguments) {
    if (arguments.spec.file.empty() == !arguments.corpus.given())
        throw Error(ErrorKind::usage, "give one of: a sweep file, --corpus, --text",
                    "as in deft analyze sweeps/quickstart.toml");
    const bool foreign = !arguments.column.empty() || !arguments.from_deepspeed.empty();
    const bool perplexity =
        std::find(arguments.metrics.begin(), arguments.metrics.end(), kPerplexity) != arguments.metrics.end();
    if (!arguments.column_out.empty() && arguments.from_deepspeed.empty())
        throw Error(ErrorKind::usage, "--column-out requires --from-deepspeed",
                    "drop it: a sweep accepts the .json of an index as a column");
    if (perplexity == arguments.checkpoint.empty())
        throw Error(ErrorKind::usage, "--metric perplexity and --checkpoint require each other",
                    "as in --metric perplexity --checkpoint deft-runs/checkpoints/HASH/step_00000100");
    if (!arguments.column.empty() + !arguments.from_deepspeed.empty() + !arguments.shard.empty() + arguments.reduce > 1)
        throw Error(ErrorKind::usage, "--column, --from-deepspeed, --shard and --reduce cannot be combined",
                    "give one");
    if (perplexity && (foreign || !arguments.shard.empty() || arguments.reduce || arguments.metrics.size() > 1))
        throw Error(ErrorKind::usage, "perplexity cannot be combined with other metrics or options",
                    "give only --metric perplexity and --checkpoint");
    if (!perplexity && !foreign)
        for (const std::string& metric : arguments.metrics) engine::built_in_metric(metric);
}

// The mean loss of each sample under --checkpoint, measured if it is not stored yet.
fs::path perplexity_of(const Analysis& analysis, const AnalyzeArguments& arguments, sweeps::ProgressLine& line) {
    const experiments::PackedDataset dataset = experiments::load_packed_dataset(
        analysis.data, analysis.base_folder, sweeps::data_folder(arguments.root), shown_on(line));
    experiments::TrainedModel trained = experiments::load_trained_model(
        arguments.checkpoint,
        {engine::Device::cpu, engine::DType::f32, arguments.threads > 0 ? arguments.threads : usable_cores()});
    fs::path column = experiments::perplexity_column(trained, dataset, analysis.seqlen, shown_on(line));
    line.clear();
    print(fmt::format("Mean loss of each sample (nats per token): {}", column.string()));
    return column;
}

// Difficulties from a column, DeepSpeed's files or a checkpoint; nothing for a built-in metric.
std::optional<DifficultyRow> foreign_row(const Analysis& analysis, const experiments::Dataset& samples,
                                         const AnalyzeArguments& arguments, sweeps::ProgressLine& line) {
    DifficultyRow row{
        samples.name, arguments.metrics.empty() ? "voc" : arguments.metrics.front(), analysis.seqlen, {}, {}};
    if (!arguments.from_deepspeed.empty()) {
        engine::DeepSpeedIndex read =
            engine::read_deepspeed_index(arguments.from_deepspeed, row.metric, samples.source.samples);
        row.index = std::move(read.index);
        if (!read.has_values) {
            line.clear();
            print_note(fmt::format(
                "{0}: only {0}_index_to_sample_percentile_merged exists, which has the order of the samples "
                "and no values. The values below are row numbers: use them with difficulty = "
                "\"percentile\".",
                row.metric));
            row.has_values = false;
        }
        return row;
    }
    fs::path column = arguments.column;
    if (!arguments.checkpoint.empty())
        column = perplexity_of(analysis, arguments, line);
    else if (column.empty())
        return {};
    else
        row.metric = column.filename().string();
    row.index = experiments::open_difficulty(samples, column);
    if (row.index.has_floats && !arguments.deepspeed_out.empty())
        throw Error(ErrorKind::usage,
                    fmt::format("{} has floats, and --deepspeed-out requires integers", column.string()),
                    "scale and round them, or drop --deepspeed-out", "nothing was written");
    return row;
}

std::vector<DifficultyRow> built_in_rows(const Analysis& analysis, const experiments::Dataset& samples,
                                         const experiments::AnalysisOptions& options) {
    const Clock::time_point start = Clock::now();
    const std::vector<std::string> made = experiments::analyse_difficulty(samples, analysis.metrics, options);
    const double seconds = seconds_since(start);
    std::vector<DifficultyRow> rows;
    for (const std::string& metric : analysis.metrics) {
        rows.push_back({samples.name, metric, analysis.seqlen, experiments::load_difficulty(samples, metric), {}});
        if (std::find(made.begin(), made.end(), metric) != made.end()) rows.back().seconds = seconds;
    }
    return rows;
}

// Prints the remaining work of a shard and returns the exit code.
int run_shard(const Analysis& analysis, const experiments::Dataset& samples,
              const experiments::AnalysisOptions& options) {
    const engine::MissingParts missing = experiments::analyse_shard(samples, analysis.metrics, options);
    const auto own = [&](std::int64_t part) { return part % options.shard.count == options.shard.index; };
    const std::string shard =
        fmt::format("shard {}/{} of {}", options.shard.index + 1, options.shard.count, samples.name);
    if (std::any_of(missing.values.begin(), missing.values.end(), own)) {
        print(fmt::format("{} is counted; {} parts of other shards are missing: run this again when they are complete",
                          shard, missing.counts.size()));
        return kExitWorkLeft;
    }
    print(missing.none()
              ? fmt::format("{} is complete, as are all other shards: run the same with --reduce", shard)
              : fmt::format("{} is complete; {} parts of other shards are missing", shard, missing.values.size()));
    return kExitOk;
}

int run_analyze(const AnalyzeArguments& arguments) {
    require_folder_of(arguments.column_out);
    check(arguments);
    const std::vector<Analysis> analyses =
        arguments.spec.file.empty() ? std::vector<Analysis>{of_corpus(arguments)} : of_sweep(arguments);
    if (analyses.size() > 1 && (is_foreign(arguments) || !arguments.deepspeed_out.empty()))
        throw Error(ErrorKind::usage,
                    fmt::format("these options apply to one corpus at one length, and the chosen trials have {}",
                                analyses.size()),
                    "choose trials of one corpus and length with --only and --set");
    if (analyses.empty())
        throw Error(ErrorKind::missing, "no chosen trial has a curriculum metric to analyze",
                    "choose other recipes, or give one [case.curriculum.voc]");
    if (!arguments.checkpoint.empty() && is_of_bert(analyses.front())) refuse_bert_perplexity();
    reporting::Table table = difficulty_table();
    int exit_code = kExitOk;
    for (const Analysis& analysis : analyses) {
        sweeps::ProgressLine line;
        const experiments::Dataset samples = experiments::load_dataset(
            analysis.data, analysis.seqlen, analysis.base_folder, sweeps::data_folder(arguments.root), shown_on(line));
        line.clear();
        print_note(samples.note);
        print(
            fmt::format("{}: {} training samples of {} tokens", samples.name, samples.source.samples, analysis.seqlen));
        experiments::AnalysisOptions options;
        options.threads = arguments.threads;
        options.memory_bytes = arguments.memory_bytes;
        options.progress = shown_on(line);
        if (!arguments.shard.empty()) {
            options.shard = parse_shard(arguments.shard);
            exit_code = std::max(exit_code, run_shard(analysis, samples, options));
            continue;
        }
        if (arguments.reduce) experiments::reduce_shards(samples, analysis.metrics, options);
        std::vector<DifficultyRow> rows;
        if (auto row = foreign_row(analysis, samples, arguments, line))
            rows.push_back(std::move(*row));
        else
            rows = built_in_rows(analysis, samples, options);
        line.clear();
        for (const DifficultyRow& row : rows) {
            add_row(table, row);
            if (!arguments.column_out.empty()) {
                const std::vector<std::int64_t> values(row.index.value.begin(), row.index.value.end());
                engine::write_npy(arguments.column_out, std::span<const std::int64_t>(values));
            }
            if (!arguments.deepspeed_out.empty())
                engine::write_deepspeed_index(
                    row.index, arguments.deepspeed_out,
                    arguments.column.empty() ? row.metric : fs::path(arguments.column).stem().string());
        }
    }
    if (!table.rows.empty()) print(table);
    return exit_code;
}

std::string metric_help() {
    std::vector<std::string> names;
    for (const engine::Metric& metric : engine::built_in_metrics()) names.push_back(metric.name);
    return fmt::format(
        "{}, several as in voc,seqlen; or perplexity (default: the metrics of the sweep's curricula, or voc for a "
        "corpus)",
        fmt::join(names, ", "));
}

void add_options(CLI::App& command, AnalyzeArguments& arguments) {
    arguments.spec.add_to(command, false);
    arguments.corpus.add_to(command);
    command.add_option("--metric", arguments.metrics, metric_help())->delimiter(',')->allow_extra_args(false);
    command.add_option("--seqlen", arguments.seqlen, "Tokens per sample, for --corpus and --text")->check(at_least(1));
    command
        .add_option("--samples", arguments.samples,
                    "Samples of --corpus or --text: packed, or bert (sentences with special tokens)")
        ->capture_default_str();
    command
        .add_option(
            "--tokenizer", arguments.tokenizer,
            "Tokenizer of --corpus or --text: bytes, gpt2, bpe, or a folder with vocab.json and merges.txt; for bert "
            "samples bert-base-uncased, a folder with vocab.txt, or a .txt file")
        ->capture_default_str();
    command.add_option("--vocab", arguments.vocab, "Vocabulary size of the bpe tokenizer")
        ->check(CLI::Range(257, 1'000'000));
    command.add_option("--checkpoint", arguments.checkpoint, "Model for --metric perplexity: a step_ folder");
    command.add_option("--column", arguments.column,
                       "Difficulties from another tool: .npy, CSV with one column, or the .json of an index");
    command.add_option("--from-deepspeed", arguments.from_deepspeed,
                       "Folder of DeepSpeed's data analyzer, with METRIC_index_to_sample and METRIC_index_to_metric");
    command.add_option("--column-out", arguments.column_out,
                       "Write the values of --from-deepspeed as a column for a sweep (.npy)");
    command.add_option("--deepspeed-out", arguments.deepspeed_out, "Also write DeepSpeed's index files to this folder");
    command.add_option("--shard", arguments.shard,
                       "Analyze one shard, as in 2/5; all machines share --root, and --reduce joins the shards");
    command.add_flag("--reduce", arguments.reduce, "Join the shards when all are complete");
    add_threads(command, arguments.threads, "Threads (default: all cores)");
    command.add_option("--memory", arguments.memory_bytes, "Memory for sorting samples, as in 500MB (default: 1 GiB)")
        ->transform(CLI::AsSizeValue(false))
        ->check(at_least(1));
    add_root(command, arguments.root, "Folder of tokenized corpora and analyses");
}

}  // namespace

void add_analyze(CLI::App& app, Context& context) {
    auto arguments = std::make_shared<AnalyzeArguments>();
    CLI::App* command =
        app.add_subcommand("analyze", "Measure the difficulty of the samples of a sweep's corpora, or of one corpus");
    add_options(*command, *arguments);
    command->callback([arguments, &context] { context.exit_code = run_analyze(*arguments); });
}

}  // namespace deft::cli
