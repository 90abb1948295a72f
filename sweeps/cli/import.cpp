// deft import: a model of Hugging Face or llm.c as a checkpoint of deft.

#include <fmt/format.h>

#include <memory>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "experiments/exchange.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/output.h"

namespace deft::cli {

namespace {

struct ImportArguments {
    std::string from;
    std::string to;
    std::string tokenizer;
    bool force = false;
};

int run_import(const ImportArguments& arguments) {
    const experiments::Exchanged done =
        experiments::import_model(arguments.from, arguments.to, arguments.tokenizer, arguments.force);
    print(fmt::format("{}: {} layers of {}, {} weights, of {} ({}, sha256 {})", arguments.to, done.model.layers(),
                      done.model.width, engine::dtype_name(done.dtype), arguments.from, done.format,
                      short_hash(done.sha256)));
    if (!done.note.empty()) print("  " + done.note);
    return kExitOk;
}

}  // namespace

void add_import(CLI::App& app, Context& context) {
    auto arguments = std::make_shared<ImportArguments>();
    CLI::App* command = app.add_subcommand(
        "import", "Make a checkpoint, weights alone, of a model of Hugging Face or llm.c; deft eval can score it");
    command
        ->add_option("model", arguments->from,
                     "A folder with config.json and model.safetensors or its shards, or a model file of llm.c "
                     "(float32 or bfloat16)")
        ->required();
    command->add_option("--to", arguments->to, "The folder of the new checkpoint")->required();
    command->add_option("--tokenizer", arguments->tokenizer,
                        "bytes, gpt2, a folder with vocab.json and merges.txt, or none; without it, the one beside the "
                        "weights");
    command->add_flag("--force", arguments->force, "Replace the folder --to, if it holds a model");
    command->callback([arguments, &context] { context.exit_code = run_import(*arguments); });
}

}  // namespace deft::cli
