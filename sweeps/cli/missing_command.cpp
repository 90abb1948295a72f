#include "sweeps/cli/missing_command.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/suggestion.h"
#include "reporting/text.h"

namespace deft::cli {

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
        if (word == words.end()) return fmt::format("{} needs a command\n  to mend: {}", name, there);
        return fmt::format("{} has no command {}\n  to mend: {}", name, reporting::visible(*word),
                           suggestion(*word, known, there));
    }
}

}  // namespace deft::cli
