#pragma once
// The group, examples and environment variables of each command, as its help and the man page show them.

#include <string_view>
#include <vector>

namespace deft::cli {

struct CommandHelp {
    std::string_view command;  // "data get"
    std::vector<const char*> examples;
    std::vector<std::string_view> environment;  // names of kEnvironment
};

struct EnvironmentVariable {
    std::string_view name, meaning;
};

const std::vector<CommandHelp>& all_command_help();
// Null where the table has no such command.
const CommandHelp* find_command_help(std::string_view command);

// Groups of the commands, in the order of the overview; the first holds what a beginner needs.
struct CommandGroup {
    const char* title;
    std::vector<const char*> commands;
};
const std::vector<CommandGroup>& command_groups();

std::string_view environment_meaning(std::string_view name);

}  // namespace deft::cli
