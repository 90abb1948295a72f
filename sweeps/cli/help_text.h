#pragma once
// The help of every command in 80 columns, and the overview of all commands.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace deft::cli {

inline constexpr int kHelpWidth = 80;

struct HelpFormatter : CLI::Formatter {
    std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

// "data get"; empty for deft itself.
std::string command_path(const CLI::App& command);
// Subcommands and options that help shows: those with a group.
std::vector<const CLI::App*> visible_commands(const CLI::App& app);
std::vector<const CLI::Option*> visible_options(const CLI::App& app);

// The commands of a beginner, then the others by group.
std::string overview(const CLI::App& app);

}  // namespace deft::cli
