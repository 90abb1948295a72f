// deft data dump-samples: a sweep's training samples, for tools that measure difficulty.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "experiments/datasets/dataset.h"
#include "sweeps/cli/data_tokens.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/driver/progress.h"
#include "sweeps/driver/root.h"

namespace deft::cli {

namespace {

namespace fs = std::filesystem;

struct DumpArguments {
    SpecArguments spec;
    std::string out = "/dev/stdout";
    bool force = false;
    std::string root = sweeps::kDefaultRoot;
};

// The chosen trials' corpus and sample length. Errors: usage, where they have several.
experiments::TrialConfig one_corpus(const SpecArguments& spec) {
    std::vector<experiments::TrialConfig> found;
    for (const sweeps::Trial& trial : sweeps::expand(spec.load(), sweeps::Data::may_be_missing)) {
        const experiments::TrialConfig& config = trial.config;
        if (!spec.selects(trial) || experiments::is_imported(config)) continue;
        if (std::none_of(found.begin(), found.end(), [&](const experiments::TrialConfig& other) {
                return other.data.sha256 == config.data.sha256 && other.data.bert == config.data.bert &&
                       other.model.seqlen == config.model.seqlen;
            }))
            found.push_back(config);
    }
    if (found.empty()) throw Error(ErrorKind::usage, "no chosen trial trains", "choose other recipes with --only");
    if (found.size() > 1)
        throw Error(ErrorKind::usage, fmt::format("the chosen trials have {} corpora or sample lengths", found.size()),
                    "choose trials of one of them with --only and --set");
    if (found.front().data.sha256 == experiments::kDataMissing)
        found.front().data.sha256.clear();  // opening the corpus says what is missing
    return found.front();
}

std::string decode(const engine::AnyTokenizer& tokenizer, std::span<const std::int32_t> tokens) {
    const auto* plain = std::get_if<engine::Tokenizer>(&tokenizer);
    return plain != nullptr ? plain->decode(tokens)
                            : std::get<std::shared_ptr<const engine::WordPiece>>(tokenizer)->decode(tokens);
}

int run_dump(const DumpArguments& arguments) {
    if (arguments.out != "/dev/stdout") {
        require_folder_of(arguments.out);
        require_free({arguments.out}, arguments.force);
    }
    const experiments::TrialConfig config = one_corpus(arguments.spec);
    if (config.data.samples == experiments::SampleKind::images)
        throw Error(ErrorKind::usage, "images have no tokens", "read the data set's own files, in their order");
    sweeps::ProgressLine line;
    const experiments::Dataset samples = experiments::load_dataset(config.data, config.model.seqlen, config.base_folder,
                                                                   sweeps::data_folder(arguments.root), shown_on(line));
    line.clear();
    AtomicFile file(arguments.out);
    std::vector<std::int32_t> scratch, tokens;
    for (std::int64_t sample = 0; sample < samples.source.samples; ++sample) {
        const engine::TokenSpan span = samples.source.tokens(sample, scratch);
        tokens.resize(static_cast<std::size_t>(span.size));
        for (std::int64_t i = 0; i < span.size; ++i) tokens[static_cast<std::size_t>(i)] = span[i];
        // A sample of bytes may begin or end within a character.
        const Json row = {{"sample", sample}, {"text", decode(samples.tokenizer, tokens)}, {"tokens", tokens}};
        file.write(row.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
    }
    file.finish();
    print_note(
        fmt::format("{}: {} training samples of {} tokens; a column of difficulties has as many values, in this order",
                    samples.name, samples.source.samples, samples.seqlen));
    return kExitOk;
}

}  // namespace

void add_data_dump_samples(CLI::App& data, Context& context) {
    auto arguments = std::make_shared<DumpArguments>();
    CLI::App* command = data.add_subcommand(
        "dump-samples",
        "Write the training samples of a sweep in order, a JSON object per line: sample, text and tokens.\n"
        "Measure their difficulty with any tool, and give the values to a curriculum as its column.");
    arguments->spec.add_to(*command);
    command->add_option("--out", arguments->out, "The JSONL file (default: standard output)");
    command->add_flag("--force", arguments->force, "Overwrite an existing file");
    add_root(*command, arguments->root, "Where tokenized corpora are kept");
    command->callback([arguments, &context] { context.exit_code = run_dump(*arguments); });
}

}  // namespace deft::cli
