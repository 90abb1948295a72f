// deft: the program.

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/suggestion.h"
#include "reporting/text.h"
#include "sweeps/cli/commands.h"
#include "sweeps/driver/provenance.h"

namespace {

// The parser would only say that a subcommand is missing.
void refuse_unknown_command(const CLI::App& app, int argc, char** argv) {
    if (argc < 2 || argv[1][0] == '-') return;
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands({})) {
        if (command->get_name() == argv[1]) return;
        if (!command->get_group().empty()) names.push_back(command->get_name());
    }
    throw deft::Error(deft::ErrorKind::usage, std::string("there is no command ") + argv[1],
                      deft::suggestion(argv[1], names, "see deft --help"));
}

// What to say where a command has commands of its own and none of them was named: "deft db has no command rebuild\n  to
// mend: there are: upgrade". Empty where the words name a command that there is.
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
        return fmt::format("{} has no command {}\n  to mend: {}", name, deft::reporting::visible(*word),
                           deft::suggestion(*word, known, there));
    }
}

// Where a standard stream is closed, the next file to be opened would get its number, and then whatever is printed. The
// streams that are opened here instead can be neither read nor written, so that printing still fails.
void occupy_standard_streams() {
    for (int number = 0; number <= 2; ++number)
        if (::fcntl(number, F_GETFD) < 0) (void)!::open("/dev/null", O_PATH);
}

int run(int argc, char** argv) {
    CLI::App app("Trains the cases of a sweep, logs what they consumed and scored, and tabulates them.", "deft");
    app.set_version_flag("--version", deft::sweeps::version_text());
    app.require_subcommand(1);
    deft::cli::Context context;
    deft::cli::add_run(app, context);
    deft::cli::add_plan(app, context);
    deft::cli::add_status(app, context);
    deft::cli::add_show(app, context);
    deft::cli::add_logs(app, context);
    deft::cli::add_report(app, context);
    deft::cli::add_eval(app, context);
    deft::cli::add_data(app, context);
    deft::cli::add_analyze(app, context);
    deft::cli::add_keys(app, context);
    deft::cli::add_config(app, context);
    deft::cli::add_bench(app, context);
    deft::cli::add_profile(app, context);
    deft::cli::add_check(app, context);
    deft::cli::add_baseline(app, context);
    deft::cli::add_db(app, context);
    deft::cli::add_tune(app, context);
    deft::cli::add_doctor(app, context);
    deft::cli::add_debug_state(app, context);
    deft::cli::add_trial(app, context);
    refuse_unknown_command(app, argc, argv);
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& asked) {  // --help, --version
        app.exit(asked);
    } catch (const CLI::ParseError& error) {
        const std::string missing = missing_command(app, {argv + 1, argv + argc});
        if (missing.empty())
            std::fprintf(stderr, "deft: error: %s\n  to mend: see deft --help\n", error.what());
        else
            std::fprintf(stderr, "deft: error: %s\n", missing.c_str());
        return deft::kExitUsage;
    }
    // A result that could not be written is no result.
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
        std::fputs("deft: error: cannot write to standard output\n  unchanged: what is stored\n", stderr);
        if (context.exit_code == deft::kExitOk) context.exit_code = deft::kExitFailed;
    }
    return context.exit_code;
}

}  // namespace

int main(int argc, char** argv) {
    occupy_standard_streams();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
        std::fputs("deft: error: this processor lacks AVX2 or FMA, which deft is built for\n", stderr);
        return deft::kExitUsage;
    }
    try {
        return run(argc, argv);
    } catch (const deft::Error& error) {
        std::fprintf(stderr, "deft: error: %s\n", error.what());
        return deft::exit_code(error.kind());
    } catch (const std::bad_alloc&) {
        std::fputs("deft: error: out of memory\n", stderr);
        return deft::kExitFailed;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "deft: error: %s\n", error.what());
        return deft::kExitFailed;
    }
}
