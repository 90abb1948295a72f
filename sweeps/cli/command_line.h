#pragma once

#include "sweeps/cli/commands.h"

namespace deft::cli {

// All commands, with the formatter of their help. `app` and `context` outlive the parse.
void add_commands(CLI::App& app, Context& context);

// Does what the arguments of the program ask for; returns its exit code. Errors: as the commands', and usage for a
// command that there is not.
int run_command_line(int argc, char** argv);

}  // namespace deft::cli
