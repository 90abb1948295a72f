#pragma once
// What to say where a command has commands of its own and none of them was named.

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace deft::cli {

// "deft db has no command rebuild\n  to mend: there are: upgrade"; empty where the words name a command that there is.
std::string missing_command(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace deft::cli
