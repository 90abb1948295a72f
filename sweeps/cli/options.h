#pragma once
// Options that several commands share, each declared once.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <string>
#include <type_traits>
#include <vector>

#include "sweeps/driver/root.h"
#include "sweeps/gate/interleaved_rounds.h"
#include "sweeps/spec/expand.h"
#include "sweeps/spec/spec.h"

namespace deft::cli {

// --root
// --json: the same as --format json. Every command that prints JSON has it.
void add_json_flag(CLI::App& command, std::string& format);

void add_root(CLI::App& command, std::string& root, const char* help = "Where the results are");
// " --root DIR", as a command line in a message needs it; empty for the default root.
std::string root_option(const std::filesystem::path& root);
// The bytes of a file, pipe or terminal that an argument names. Errors: usage, where it does not exist; io.
std::string read_named_file(const std::string& file);
// --threads. Where they are 0, nobody has chosen yet, and the help shows no default.
void add_threads(CLI::App& command, int& threads, const char* help = "Threads");
// -k, --case: patterns of benchmark cases.
void add_patterns(CLI::App& command, std::vector<std::string>& patterns);
// --rounds, --segment and --seed of arms that are timed in interleaved rounds.
void add_rounds(CLI::App& command, sweeps::RoundSettings& rounds);
// The seed itself, or a random one where it is 0.
std::uint64_t seed_or_drawn(std::uint64_t seed);

// A number with its default and its limits.
template <class Number>
CLI::Option* add_number(CLI::App& command, const std::string& name, Number& value, const std::string& help,
                        std::type_identity_t<Number> least, std::type_identity_t<Number> most) {
    return command.add_option(name, value, help)->capture_default_str()->check(CLI::Range(least, most));
}

// A check of an integer that has a least value and no greatest one: CLI11's own name the largest double, in all of its
// digits.
CLI::Validator at_least(std::int64_t least);

// Which trials of which sweep file are meant.
struct SpecArguments {
    std::string file;
    std::string scale = sweeps::kDefaultScale;
    std::vector<std::string> overrides;
    std::vector<std::string> only;
    std::string seeds;

    void add_to(CLI::App& command, bool file_is_required = true);
    // Errors: those of load_spec; usage, for recipes that are not there.
    sweeps::Spec load() const;
    bool selects(const sweeps::Trial& trial) const;
    // The first that is trained. Errors: those of load() and expand(); usage, where the excludes leave no such trial of
    // the chosen recipes.
    sweeps::Trial first_trial(sweeps::Data data = sweeps::Data::required) const;
    // The same arguments as a command line, for messages.
    std::string text() const;
};

// Help of the argument that names a sweep of the database.
inline constexpr const char* kSweepHelp =
    "The sweep's name or file, or NAME@HASH as `deft status` shows it; the newest where none is given";

// Options of a generating model of GPT-2's kind: `sizes` has these members.
template <class Sizes>
void add_generation_sizes(CLI::App& command, Sizes& sizes, std::int64_t fewest_layers) {
    add_number(command, "--layers", sizes.layers, "Layers of the model, of GPT-2's kind", fewest_layers, 1000);
    add_number(command, "--width", sizes.width, "Its width", 1, 1 << 16);
    add_number(command, "--heads", sizes.heads, "Its heads", 1, 1 << 10);
    add_number(command, "--vocab", sizes.vocab, "Entries of its vocabulary", 2, 1 << 20);
    add_number(command, "--prompt", sizes.prompt, "Tokens of the prompt", 1, 1 << 20);
    add_number(command, "--tokens", sizes.tokens, "Tokens that follow", 2, 1 << 20);
}

}  // namespace deft::cli
