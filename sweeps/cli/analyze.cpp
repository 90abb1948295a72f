// deft analyze: how difficult the samples of a corpus are, under the metrics that a sweep's curricula order them by.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "experiments/datasets/difficulty.h"
#include "experiments/datasets/load.h"
#include "reporting/numbers.h"
#include "reporting/table.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/data_tokens.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/progress_line.h"
#include "sweeps/cli/spec_options.h"

namespace deft::cli {

namespace {

struct Arguments {
    SpecArguments spec;
    CorpusArguments corpus;
    std::string metric = "voc";
    std::int64_t seqlen = 0;
    std::string tokenizer = "bytes";
    std::int64_t vocab = 0;
    std::string root = "deft-runs";
};

// One index that is asked for.
struct Analysis {
    experiments::DataConfig data;
    std::string base_folder;
    std::string metric;
    std::int64_t seqlen = 0;
};

std::vector<Analysis> of_sweep(const SpecArguments& spec) {
    std::vector<Analysis> analyses;
    std::set<std::string> seen;
    for (const sweeps::Point& point : sweeps::expand(spec.load())) {
        const experiments::TrialConfig& config = point.config;
        if (!spec.selects(point) || !config.curriculum) continue;
        for (const experiments::CurriculumMetric& metric : config.curriculum->metrics)
            if (experiments::needs_index(metric.metric) &&
                seen.insert(fmt::format("{} {} {}", config.data.sha256, metric.metric, config.model.seqlen)).second)
                analyses.push_back({config.data, config.base_folder, metric.metric, config.model.seqlen});
    }
    return analyses;
}

Analysis of_corpus(const Arguments& arguments) {
    if (arguments.seqlen == 0)
        throw Error(ErrorKind::usage, "a corpus has samples only at some length", "add --seqlen 1024");
    if (!experiments::needs_index(arguments.metric))
        throw Error(ErrorKind::usage, fmt::format("no metric that orders samples is called \"{}\"", arguments.metric),
                    "name voc");
    Analysis analysis{arguments.corpus.data(), ".", arguments.metric, arguments.seqlen};
    set_tokenizer(analysis.data, arguments.tokenizer, arguments.vocab);
    return analysis;
}

std::vector<reporting::Cell> row_of(const Analysis& analysis, const std::filesystem::path& data_folder) {
    using Clock = std::chrono::steady_clock;
    ProgressLine line;
    const auto progress = [&](const std::string& what, double fraction) { line.show(what, fraction); };
    const experiments::Dataset dataset =
        experiments::load_dataset(analysis.data, analysis.base_folder, data_folder, progress);
    if (dataset.train.samples(analysis.seqlen) < 1)
        throw Error(
            ErrorKind::config,
            fmt::format("the training text of {} has {} tokens, fewer than one sample of {} and its last target",
                        dataset.name, dataset.train.tokens.size, analysis.seqlen),
            "take a shorter length, or more text");
    bool made = false;
    const Clock::time_point start = Clock::now();
    const engine::DifficultyIndex index = experiments::load_difficulty(dataset, analysis.metric, analysis.seqlen,
                                                                       [&](const std::string& what, double fraction) {
                                                                           made = true;
                                                                           progress(what, fraction);
                                                                       });
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const std::int64_t samples = index.samples();
    std::int64_t distinct = 1;
    for (std::int64_t rank = 1; rank < samples; ++rank)
        distinct += index.sorted_value(rank) != index.sorted_value(rank - 1);
    std::vector<reporting::Cell> row = {dataset.name, analysis.metric, std::to_string(analysis.seqlen),
                                        std::to_string(samples)};
    // The value that a decile of the samples does not exceed: a cut of the order at an exact count.
    for (int decile = 0; decile <= 10; ++decile)
        row.push_back(std::to_string(index.sorted_value(std::max<std::int64_t>(0, (samples * decile + 9) / 10 - 1))));
    row.push_back(std::to_string(distinct));
    row.push_back(made ? reporting::short_seconds(seconds) : "found");
    row.push_back(made ? reporting::si(static_cast<double>(samples) / seconds) : "-");
    return row;
}

int run(const Arguments& arguments) {
    if (arguments.spec.file.empty() == !arguments.corpus.given())
        throw Error(ErrorKind::usage, "name one of a sweep file, --corpus and --text",
                    "as in deft analyze sweeps/quickstart.toml");
    const std::vector<Analysis> analyses =
        arguments.spec.file.empty() ? std::vector<Analysis>{of_corpus(arguments)} : of_sweep(arguments.spec);
    if (analyses.empty())
        throw Error(ErrorKind::missing, "no chosen trial orders its samples by a difficulty that is analysed",
                    "choose other cases, or give one [case.curriculum.voc]");
    using reporting::Align;
    reporting::Table table;
    table.caption = "Difficulty of the training samples";
    table.columns = {{"corpus", Align::left}, {"metric", Align::left}, {"length"}, {"samples"}, {"min"}};
    for (int decile = 1; decile < 10; ++decile) table.columns.push_back({fmt::format("{} %", 10 * decile)});
    table.columns.insert(table.columns.end(), {{"max"}, {"distinct"}, {"time"}, {"samples/s"}});
    table.key_columns = 3;
    for (const Analysis& analysis : analyses)
        table.rows.push_back(row_of(analysis, std::filesystem::path(arguments.root) / "data"));
    table.notes.push_back(
        "n %: no sample of the easiest n % is more difficult. \"found\": analysed before, read again.");
    print(reporting::render_terminal(table, output_width()));
    return kExitOk;
}

}  // namespace

void add_analyze(CLI::App& app, Context& context) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command =
        app.add_subcommand("analyze", "Show how difficult the samples of a sweep's corpora, or of one corpus, are");
    arguments->spec.add_to(*command);
    command->get_option("sweep")->required(false);
    arguments->corpus.add_to(*command);
    command->add_option("--metric", arguments->metric, "Of the corpus: voc")->capture_default_str();
    command->add_option("--seqlen", arguments->seqlen, "Tokens a sample, of the corpus")->check(CLI::PositiveNumber);
    command
        ->add_option("--tokenizer", arguments->tokenizer,
                     "Of the corpus: bytes, gpt2, bpe, or a folder with vocab.json and merges.txt")
        ->capture_default_str();
    command->add_option("--vocab", arguments->vocab, "Entries of bpe")->check(CLI::Range(257, 1'000'000));
    command->add_option("--root", arguments->root, "Where tokenised corpora and what was found are kept")
        ->capture_default_str();
    command->callback([arguments, &context] { context.exit_code = run(*arguments); });
}

}  // namespace deft::cli
