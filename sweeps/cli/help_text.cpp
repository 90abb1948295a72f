#include "sweeps/cli/help_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "reporting/text.h"
#include "sweeps/cli/command_help.h"
#include "sweeps/cli/exit_codes.h"

namespace deft::cli {

namespace {

// A word that is wider than a line continues on the next, after a comma where it has one.
std::vector<std::string> wrapped(std::string text, int width) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    std::vector<std::string> lines;
    for (std::string line : reporting::wrap(text, width, "")) {
        while (reporting::display_width(line) > width) {
            std::size_t end = line.rfind(',', static_cast<std::size_t>(width) - 1);
            end = end == std::string::npos ? static_cast<std::size_t>(width) : end + 1;
            lines.push_back(line.substr(0, end));
            line.erase(0, end);
        }
        lines.push_back(line);
    }
    return lines;
}

void add_indented(std::string& out, const std::string& text, int indent) {
    for (const std::string& line : wrapped(text, kHelpWidth - indent))
        out += std::string(static_cast<std::size_t>(indent), ' ') + line + "\n";
}

// "  name      description", with the description below a name that is too wide.
void add_entry(std::string& out, const std::string& name, const std::string& text, int column) {
    if (reporting::display_width(name) + 4 > column) {
        add_indented(out, name, 2);
        add_indented(out, text, column);
        return;
    }
    std::string entry;
    add_indented(entry, text, column);
    out += "  " + name + entry.substr(2 + name.size());
}

void add_section(std::string& out, const std::string& title) {
    out += "\n" + title + ":\n";
}

}  // namespace

std::string command_path(const CLI::App& command) {
    const CLI::App* parent = command.get_parent();
    if (parent == nullptr) return {};
    const std::string above = command_path(*parent);
    return above.empty() ? command.get_name() : above + " " + command.get_name();
}

std::vector<const CLI::App*> visible_commands(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); });
}

std::vector<const CLI::Option*> visible_options(const CLI::App& app) {
    return app.get_options([](const CLI::Option* one) { return !one->get_group().empty(); });
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const {
    const std::string path = command_path(*app);
    if (path.empty()) return overview(*app);
    std::string usage = "deft " + path + " [OPTIONS]", positionals, options;
    for (const CLI::Option* option : visible_options(*app)) {
        const bool positional = option->get_positional();
        if (positional)
            usage += (option->get_required() ? " " : " [") + option->get_name() + (option->get_required() ? "" : "]");
        add_entry(positional ? positionals : options, make_option_name(option, positional) + make_option_opts(option),
                  option->get_description(), 26);
    }
    const std::vector<const CLI::App*> commands = visible_commands(*app);
    if (!commands.empty()) usage += " COMMAND";

    std::string out;
    add_indented(out, app->get_description(), 0);
    out += "\n";
    add_indented(out, "Usage: " + usage, 0);
    if (!positionals.empty()) add_section(out, "Arguments");
    out += positionals;
    if (!options.empty()) add_section(out, "Options");
    out += options;
    if (!commands.empty()) add_section(out, "Commands");
    for (const CLI::App* command : commands) add_entry(out, command->get_name(), command->get_description(), 26);

    add_section(out, "Exit codes");
    for (const ExitCode& exit : exit_codes_of(path))
        add_entry(out, std::to_string(exit.code), std::string(exit.meaning), 7);
    const CommandHelp* help = find_command_help(path);
    if (help == nullptr) return out;
    if (!help->environment.empty()) add_section(out, "Environment");
    for (const std::string_view name : help->environment)
        add_entry(out, std::string(name), std::string(environment_meaning(name)), 26);
    add_section(out, "Examples");
    for (const char* example : help->examples) out += fmt::format("  {}\n", example);
    return out;
}

std::string overview(const CLI::App& app) {
    std::string out;
    add_indented(out, app.get_description(), 0);
    out += "\nUsage: deft COMMAND [OPTIONS]\n";
    for (const CommandGroup& group : command_groups()) {
        add_section(out, group.title);
        for (const char* name : group.commands) add_entry(out, name, app.get_subcommand(name)->get_description(), 16);
    }
    out += "\ndeft COMMAND --help shows options, exit codes and examples; deft --version shows\nthe version.\n";
    add_section(out, "Examples");
    out += "  deft run sweeps/quickstart.toml\n  deft report quickstart\n";
    return out;
}

}  // namespace deft::cli
