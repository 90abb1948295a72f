#include "sweeps/cli/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/suggestion.h"
#include "reporting/text.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/help_text.h"
#include "sweeps/cli/output.h"
#include "sweeps/driver/provenance.h"

namespace deft::cli {

namespace {

// The parser would only say that a subcommand is missing.
void refuse_unknown_command(const CLI::App& app, int argc, char** argv) {
    if (argc < 2 || argv[1][0] == '-') return;
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands({})) {
        if (command->get_name() == argv[1]) return;
        if (!command->get_group().empty()) names.push_back(command->get_name());
    }
    throw Error(ErrorKind::usage, std::string("unknown command ") + argv[1],
                suggestion(argv[1], names, "see deft --help"));
}

// The message where a command needs a subcommand and none was named: "deft db has no command
// rebuild\n  help: there are: upgrade". Empty where the words name an existing command.
std::string missing_command(const CLI::App& app, const std::vector<std::string>& words) {
    const CLI::App* command = &app;
    std::string name = "deft";
    const auto all = [](const CLI::App* one) { return !one->get_group().empty(); };  // hidden ones have none
    for (auto word = words.begin();; ++word) {
        const std::vector<const CLI::App*> commands = command->get_subcommands(all);
        if (commands.empty()) return {};
        word = std::find_if(word, words.end(), [](const std::string& text) { return !text.starts_with('-'); });
        const auto found = std::find_if(commands.begin(), commands.end(), [&](const CLI::App* one) {
            return word != words.end() && one->get_name() == *word;
        });
        if (found != commands.end()) {
            command = *found;
            name += ' ' + command->get_name();
            continue;
        }
        if (command->get_require_subcommand_min() == 0) return {};
        std::vector<std::string> known;
        for (const CLI::App* one : commands) known.push_back(one->get_name());
        const std::string there = fmt::format("there {} {}", known.size() == 1 ? "is" : "are", fmt::join(known, ", "));
        if (word == words.end()) return fmt::format("{} needs a command\n  help: {}", name, there);
        return fmt::format("{} has no command {}\n  help: {}", name, reporting::visible(*word),
                           suggestion(*word, known, there));
    }
}

// Refuses the first option that its command lacks, with the nearest one that it has.
void refuse_unknown_option(const CLI::App& app, const std::vector<std::string>& words) {
    const CLI::App* command = &app;
    for (const std::string& word : words) {
        const std::vector<const CLI::App*> commands = visible_commands(*command);
        const auto found = std::find_if(commands.begin(), commands.end(),
                                        [&](const CLI::App* one) { return one->get_name() == word; });
        if (found != commands.end()) command = *found;
        if (!word.starts_with("--")) continue;
        const std::string name = word.substr(0, word.find('='));
        if (name == "--" || command->get_option_no_throw(name) != nullptr) continue;
        std::vector<std::string> known;
        for (const CLI::Option* option : visible_options(*command))
            for (const std::string& one : option->get_lnames()) known.push_back("--" + one);
        const std::string path = command_path(*command);
        const std::string command_name = path.empty() ? "deft" : "deft " + path;
        throw Error(ErrorKind::usage, fmt::format("{} has no option {}", command_name, reporting::visible(name)),
                    suggestion(name, known, fmt::format("see {} --help", command_name)));
    }
}

// An empty value, as of a shell variable that is not set, would count as an option that is not given.
void refuse_empty_values(CLI::App& app) {
    const auto problem = [](const std::string& text) {
        return text.empty() ? "the value is empty; give one, or leave the option out" : std::string();
    };
    for (CLI::Option* option : app.get_options([](CLI::Option*) { return true; }))
        if (option->get_expected_max() > 0 && !option->check_name("--prompt")) option->check(problem);
    for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) refuse_empty_values(*command);
}

}  // namespace

void add_commands(CLI::App& app, Context& context) {
    app.formatter(std::make_shared<HelpFormatter>());
    for (const auto add : kCommands) add(app, context);
    refuse_empty_values(app);
}

int run_command_line(int argc, char** argv) {
    CLI::App app("Trains the recipes of a sweep, and compares what they cost and how well they score.", "deft");
    app.set_version_flag("--version", sweeps::version_text());
    app.require_subcommand(1);
    Context context;
    add_commands(app, context);
    if (argc < 2) {
        print(overview(app));
        return kExitOk;
    }
    refuse_unknown_command(app, argc, argv);
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& asked) {  // --help, --version
        app.exit(asked);
    } catch (const CLI::ParseError& error) {
        if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr)
            refuse_unknown_option(app, {argv + 1, argv + argc});
        const std::string missing = missing_command(app, {argv + 1, argv + argc});
        if (missing.empty())
            print_message(fmt::format("deft: error: {}\n  help: see deft --help\n", error.what()));
        else
            print_message(fmt::format("deft: error: {}\n", missing));
        return kExitUsage;
    }
    // A result that could not be written does not count.
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
        std::fputs("deft: error: cannot write to standard output\n  note: unchanged: the stored results\n", stderr);
        if (context.exit_code == kExitOk) context.exit_code = kExitFailed;
    }
    return context.exit_code;
}

}  // namespace deft::cli
