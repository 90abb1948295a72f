#pragma once

namespace deft::cli {

// Does what the arguments of the program ask for; returns its exit code. Errors: as the commands', and usage for a
// command that there is not.
int run_command_line(int argc, char** argv);

}  // namespace deft::cli
