#include "sweeps/cli/exit_codes.h"

#include <algorithm>
#include <csignal>
#include <string>

#include "base/error.h"

namespace deft::cli {

namespace {

constexpr int kInterrupted = 128 + SIGINT;

// Every command returns these.
constexpr int kOfAll[] = {kExitOk, kExitFailed, kExitUsage};

struct CommandCodes {
    std::vector<int> codes;  // beside kOfAll
    std::vector<std::string_view> commands;
};

const std::vector<CommandCodes>& further_codes() {
    static const std::vector<CommandCodes> all = {
        {{kExitNothing, kExitDatabase, kExitWorkLeft, kInterrupted}, {"run"}},
        {{kExitNothing, kExitDatabase}, {"status",
                                         "show",
                                         "trace",
                                         "compare",
                                         "logs",
                                         "report",
                                         "eval",
                                         "generate",
                                         "export",
                                         "bench run",
                                         "bench history",
                                         "bench import",
                                         "bench slots",
                                         "bench aa",
                                         "baseline pin",
                                         "baseline list",
                                         "baseline retire",
                                         "db upgrade",
                                         "db export",
                                         "db verify",
                                         "db merge"}},
        {{kExitWorse, kExitUnclear, kExitNothing, kExitDatabase},
         {"check bench", "check quality", "check trend", "check claims", "bench ab"}},
        {{kExitNothing, kExitWorkLeft}, {"analyze", "tune"}},
        {{kExitNothing},
         {"bench list", "bench gpu", "bench step", "bench startup", "bench analyzer", "bench generate",
          "bench moe-inference", "bench experts", "bench ranks", "profile"}},
    };
    return all;
}

bool is_part(std::string_view command, std::string_view group) {
    return command == group || (command.starts_with(group) && command[group.size()] == ' ');
}

}  // namespace

const std::vector<ExitCode>& exit_codes() {
    static const std::vector<ExitCode> codes = {
        {kExitOk, "done"},
        {kExitFailed,
         "a trial failed, a root has faults, a checked commit computes wrongly or does not build, or an I/O error"},
        {kExitUsage, "invalid command line or configuration, an unknown name, or missing packages or data"},
        {kExitWorse, "a comparison found something worse, or a claim is refuted"},
        {kExitUnclear, "a comparison is inconclusive, under --strict"},
        {kExitNothing, "nothing measured: no results, or no device or library to measure with"},
        {kExitDatabase,
         "the database is locked, foreign, corrupt, from a newer deft, or from an older one that needs deft db "
         "upgrade"},
        {kExitWorkLeft, "stopped with work left; the same command resumes"},
        {kInterrupted, "stopped by a second or third Ctrl-C"},
    };
    return codes;
}

std::vector<ExitCode> exit_codes_of(std::string_view command) {
    std::vector<int> codes(std::begin(kOfAll), std::end(kOfAll));
    for (const CommandCodes& further : further_codes())
        if (std::any_of(further.commands.begin(), further.commands.end(),
                        [&](std::string_view one) { return is_part(one, command); }))
            codes.insert(codes.end(), further.codes.begin(), further.codes.end());
    std::vector<ExitCode> found;
    for (const ExitCode& one : exit_codes())
        if (std::find(codes.begin(), codes.end(), one.code) != codes.end()) found.push_back(one);
    return found;
}

}  // namespace deft::cli
