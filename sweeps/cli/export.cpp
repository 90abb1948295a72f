// deft export: a checkpoint as a folder that Hugging Face loads.

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

#include "experiments/exchange.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/find_checkpoint.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"

namespace deft::cli {

namespace {

namespace fs = std::filesystem;

struct ExportArguments {
    std::string checkpoint;
    std::string root = sweeps::kDefaultRoot;
    std::string to;
    std::string dtype;
    std::int64_t shard_megabytes = 0;
    bool force = false;
};

std::optional<engine::DType> dtype_named(const std::string& name) {
    if (name.empty()) return {};
    if (name == "bf16") return engine::DType::bf16;
    return name == "f16" ? engine::DType::f16 : engine::DType::f32;
}

int run_export(const ExportArguments& arguments) {
    const fs::path checkpoint = find_checkpoint(arguments.checkpoint, arguments.root);
    const experiments::Exchanged done = experiments::export_checkpoint(
        checkpoint, arguments.to,
        {dtype_named(arguments.dtype), arguments.shard_megabytes * 1'000'000, arguments.force});
    print(fmt::format("{}: {} layers of {}, {} weights, of {}", arguments.to, done.model.layers(), done.model.width,
                      engine::dtype_name(done.dtype), checkpoint.string()));
    if (!done.note.empty()) print("  " + done.note);
    return kExitOk;
}

}  // namespace

void add_export(CLI::App& app, Context& context) {
    auto arguments = std::make_shared<ExportArguments>();
    CLI::App* command = app.add_subcommand("export",
                                           "Write a checkpoint as a folder that Hugging Face's from_pretrained() "
                                           "loads: GPT-2, BERT, ViT, Llama or Mixtral");
    command
        ->add_option("checkpoint", arguments->checkpoint,
                     "The checkpoint's folder, or a trial's name or hash as in deft show")
        ->required();
    command->add_option("--to", arguments->to, "The folder to write: weights, config.json, tokenizer")->required();
    command
        ->add_option("--dtype", arguments->dtype,
                     "What the weights are stored as: f32, bf16 or f16; without it, as the checkpoint has them")
        ->check(CLI::IsMember({"f32", "bf16", "f16"}));
    command
        ->add_option(
            "--shard-size", arguments->shard_megabytes,
            "Split the weights into files of at most this size in MB (10^6 bytes), with an index; without it, one file")
        ->check(CLI::Range(1, 1'000'000));
    add_root(*command, arguments->root, "Where a trial's results are");
    command->add_flag("--force", arguments->force, "Replace the folder --to, if it holds a model");
    command->callback([arguments, &context] { context.exit_code = run_export(*arguments); });
}

}  // namespace deft::cli
