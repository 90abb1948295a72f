// deft config: configurations of other programs as ours.

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "base/error.h"
#include "experiments/import_deepspeed.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"

namespace deft::cli {

namespace {

struct ImportArguments {
    std::string file, out;
};

int run_import_deepspeed(const ImportArguments& arguments) {
    const experiments::DeepSpeedImport imported =
        experiments::import_deepspeed(read_named_file(arguments.file), arguments.file);
    print_to(arguments.out, imported.toml);
    for (const experiments::ImportNote& note : imported.notes)
        print_message(fmt::format("{}: {}: {}\n", note.key, text_of(note.what), note.why));
    return kExitOk;
}

}  // namespace

void add_config(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("config", "Take over configurations of other programs");
    command->require_subcommand(1);
    auto arguments = std::make_shared<ImportArguments>();
    CLI::App* deepspeed = command->add_subcommand(
        "import-deepspeed",
        "Print the data_efficiency section of a DeepSpeed configuration as a recipe of a sweep. Standard error has a\n"
        "line per key that is ignored, not converted, changed, or a known defect of DeepSpeed. Exit code 0 for any\n"
        "such line; 2 for a file without such a configuration.");
    deepspeed->add_option("file", arguments->file, "The JSON file")->required();
    deepspeed->add_option("--out", arguments->out, "Write the recipe into this file, not to standard output");
    deepspeed->callback([arguments, &context] { context.exit_code = run_import_deepspeed(*arguments); });
}

}  // namespace deft::cli
