#pragma once
// The exit codes of each command, as its help, the man page and docs/exit-codes.md list them.

#include <string_view>
#include <vector>

namespace deft::cli {

struct ExitCode {
    int code;
    std::string_view meaning;
};

const std::vector<ExitCode>& exit_codes();
// The codes that a command can return; a group such as "check" has those of all its commands.
std::vector<ExitCode> exit_codes_of(std::string_view command);

}  // namespace deft::cli
