// deft init: a sweep file for a user's own text.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "reporting/analysis/trace/origins.h"
#include "reporting/numbers.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/output.h"
#include "sweeps/spec/expand.h"
#include "sweeps/spec/own_text_sweep.h"

namespace deft::cli {

namespace {

namespace fs = std::filesystem;

struct InitArguments {
    std::vector<std::string> texts;
    std::string out;
    std::string name;
    bool force = false;
};

// A sweep's name from a path: letters, digits, - and _.
std::string name_of(const std::string& text) {
    const fs::path path = fs::absolute(text).lexically_normal();
    std::string name = (path.has_filename() ? path : path.parent_path()).filename().string();
    name = name.substr(0, name.find('.'));
    std::erase_if(name,
                  [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '_'; });
    return name.empty() ? "mine" : name;
}

// Writes the file only if `deft run` accepts it. An interrupted check leaves nothing.
void write_checked(const fs::path& file, const std::string& toml) {
    sweeps::expand(sweeps::spec_of_text(file, toml));
    write_file_atomically(file, toml);
}

int run_init(const InitArguments& arguments) {
    const std::string named_by = arguments.out.empty() ? arguments.texts.front() : arguments.out;
    const std::string name = arguments.name.empty() ? name_of(named_by) : arguments.name;
    const fs::path file = arguments.out.empty() ? name + ".toml" : arguments.out;
    require_folder_of(file);
    require_free({file}, arguments.force);
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    const sweeps::OwnText text = sweeps::survey_text(arguments.texts, folder);
    const std::string toml = sweeps::own_text_sweep(name, file.string(), text);
    write_checked(file, toml);

    print(fmt::format("Wrote {}: a baseline, two techniques and both.", file.string()));
    print(fmt::format("Text     {}{} in {} and {}", text.is_more ? "at least " : "",
                      reporting::si(static_cast<double>(text.bytes), "B"), counted(text.files, "file"),
                      counted(text.documents, "document")));
    if (!text.valid_files.empty()) print(fmt::format("Validated on {}", first_of(text.valid_files, 3)));
    if (!text.left_out.empty()) print(fmt::format("Left out {}", first_of(text.left_out, 3)));
    const std::string word = reporting::shell_word(file.string());
    print(fmt::format("Next     deft plan {0}\n         deft run {0}", word));
    return kExitOk;
}

}  // namespace

void add_init(CLI::App& app, Context& context) {
    auto arguments = std::make_shared<InitArguments>();
    CLI::App* command = app.add_subcommand("init", "Write a commented sweep file for your own text");
    command->add_option("text", arguments->texts, "Files (.txt, .jsonl, also .gz or .zst), folders or patterns")
        ->required();
    command->add_option("--out", arguments->out, "The sweep file (default: NAME.toml in this folder)");
    command->add_option("--name", arguments->name, "The sweep's name (default: that of the file)");
    command->add_flag("--force", arguments->force, "Overwrite an existing file");
    command->callback([arguments, &context] { context.exit_code = run_init(*arguments); });
}

}  // namespace deft::cli
