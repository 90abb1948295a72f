// deft completion and deft man: scripts for shells and the manual page, written from the table of commands. Neither
// they nor the scripts read a root.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "sweeps/cli/command_help.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/exit_codes.h"
#include "sweeps/cli/help_text.h"
#include "sweeps/cli/output.h"

namespace deft::cli {

namespace {

// A command's path with its subcommands and its options.
struct Words {
    std::string path;
    std::vector<std::string> commands, options;
};

void collect(const CLI::App& command, std::vector<Words>& all) {
    Words words{command_path(command), {}, {}};
    for (const CLI::App* one : visible_commands(command)) words.commands.push_back(one->get_name());
    for (const CLI::Option* option : visible_options(command)) {
        for (const std::string& name : option->get_lnames()) words.options.push_back("--" + name);
        for (const std::string& name : option->get_snames()) words.options.push_back("-" + name);
    }
    all.push_back(std::move(words));
    for (const CLI::App* one : visible_commands(command)) collect(*one, all);
}

// The body of a function of bash, which zsh runs as well: the words of the command that is typed so far.
std::string bash_script(const std::vector<Words>& all) {
    std::string cases;
    for (const Words& words : all)
        cases += fmt::format("        '{}') commands='{}' options='{}' ;;\n", words.path,
                             fmt::join(words.commands, " "), fmt::join(words.options, " "));
    return "_deft() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} path='' commands='' options='' next i\n"
           "    _deft_words ''\n"
           "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
           "        next=${COMP_WORDS[i]}\n"
           "        case \" $commands \" in *\" $next \"*) path=${path:+$path }$next; _deft_words \"$path\" ;; esac\n"
           "    done\n"
           "    COMPREPLY=()\n"
           "    if [[ $word == -* ]]; then COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
           "    elif [[ -n $commands ]]; then COMPREPLY=($(compgen -W \"$commands\" -- \"$word\"))\n"
           "    fi\n"
           "}\n"
           "_deft_words() {\n    case $1 in\n" +
           cases + "    esac\n}\ncomplete -o default -F _deft deft\n";
}

std::string zsh_script(const std::vector<Words>& all) {
    return "#compdef deft\nautoload -Uz bashcompinit && bashcompinit\n" + bash_script(all);
}

std::string fish_script(const std::vector<Words>& all) {
    std::string out =
        "function __deft_path\n"
        "    set -l words (string match -v -- '-*' (commandline -opc))\n"
        "    set -l path (string join ' ' $words[2..-1])\n"
        "    test \"$path\" = \"$argv[1]\"; or string match -q -- \"$argv[1] *\" \"$path\"\n"
        "end\n";
    for (const Words& words : all) {
        const std::string here =
            words.path.empty() ? "__fish_use_subcommand" : fmt::format("__deft_path \"{}\"", words.path);
        for (const std::string& name : words.commands)
            out += fmt::format("complete -c deft -f -n '{}' -a {}\n", here, name);
        for (const std::string& name : words.options)
            out += fmt::format("complete -c deft -n '{}' {} {}\n", here, name.starts_with("--") ? "-l" : "-s",
                               name.substr(name.starts_with("--") ? 2 : 1));
    }
    return out;
}

// Text of troff: a backslash is escaped, a hyphen is a minus, and no line begins with a control character.
std::string troff(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (out.empty() && (c == '.' || c == '\'')) out += "\\&";
        if (c == '\\')
            out += "\\e";
        else if (c == '-')
            out += "\\-";
        else if (c == '\n')
            out += ' ';
        else
            out += c;
    }
    return out;
}

void add_manual(const CLI::App& command, std::string& out) {
    const std::string path = command_path(command);
    if (!path.empty()) {
        out += fmt::format(".SS \"deft {}\"\n{}\n", troff(path), troff(command.get_description()));
        for (const CLI::Option* option : visible_options(command))
            out += fmt::format(".TP\n.B {}\n{}\n", troff(option->get_name(option->get_positional(), true)),
                               troff(option->get_description()));
        if (const CommandHelp* help = find_command_help(path))
            for (const char* example : help->examples)
                out += fmt::format(".PP\n.RS\n.nf\n{}\n.fi\n.RE\n", troff(example));
    }
    for (const CLI::App* one : visible_commands(command)) add_manual(*one, out);
}

std::string manual(const CLI::App& app) {
    std::string out =
        ".TH DEFT 1\n.SH NAME\ndeft \\- train, evaluate and compare the recipes of a sweep\n"
        ".SH SYNOPSIS\n.B deft\n.I COMMAND\n[\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n" +
        troff(app.get_description()) + "\n.SH COMMANDS\n";
    add_manual(app, out);
    out += ".SH \"EXIT STATUS\"\n";
    for (const ExitCode& exit : exit_codes())
        out += fmt::format(".TP\n.B {}\n{}\n", exit.code, troff(std::string(exit.meaning)));
    out += ".SH ENVIRONMENT\n";
    for (const char* name : {"DEFT_DATA", "DEFT_DATA_MIRROR", "CUDA_VISIBLE_DEVICES"})
        out += fmt::format(".TP\n.B {}\n{}\n", name, troff(std::string(environment_meaning(name))));
    return out;
}

}  // namespace

void add_completion(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("completion", "Print the completion script of a shell");
    auto shell = std::make_shared<std::string>();
    command->add_option("shell", *shell, "bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}));
    command->callback([&app, shell, &context] {
        std::vector<Words> all;
        collect(app, all);
        print_exact(*shell == "bash" ? bash_script(all) : *shell == "zsh" ? zsh_script(all) : fish_script(all));
        context.exit_code = kExitOk;
    });
}

void add_man(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("man", "Print the manual page, as in: deft man | man -l -");
    command->callback([&app, &context] {
        print_exact(manual(app));
        context.exit_code = kExitOk;
    });
}

void add_help(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("help", "Show this overview");
    command->callback([&app, &context] {
        print(overview(app));
        context.exit_code = kExitOk;
    });
}

}  // namespace deft::cli
