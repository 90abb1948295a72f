// deft logs: what a trial printed.

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "reporting/text.h"
#include "results_db/reader.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/results.h"
#include "sweeps/driver/root.h"

namespace deft::cli {

namespace {

bool is_live(const results_db::StoredTrial& trial) {
    return trial.state == "leased" || trial.state == "running";
}

// Makes escape sequences that a trial printed harmless, and keeps its lines.
void print_text(const std::string& text) {
    std::string safe;
    for (std::size_t start = 0; start < text.size();) {
        const std::size_t end = std::min(text.find('\n', start), text.size());
        safe += reporting::visible(std::string_view(text).substr(start, end - start));
        if (end < text.size()) safe += '\n';
        start = end + 1;
    }
    std::fwrite(safe.data(), 1, safe.size(), stdout);
    std::fflush(stdout);
}

}  // namespace

void add_logs(CLI::App& app, Context&) {
    struct Arguments {
        std::string trial;
        std::string root = sweeps::kDefaultRoot;
        bool follow = false;
    };
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand("logs", "Print what a trial printed");
    command->add_option("trial", arguments->trial, "The trial's name, as in baseline/1, or the start of its hash")
        ->required();
    add_root(*command, arguments->root);
    command->add_flag("-f,--follow", arguments->follow, "Go on until the trial ends");
    command->callback([arguments] {
        const results_db::Reader reader = open_results(arguments->root);
        results_db::StoredTrial trial = reader.trial(arguments->trial);
        if (trial.is_merged())
            throw Error(ErrorKind::missing, arguments->trial + " was merged from another root, without its log",
                        "read the log in the root where the trial ran");
        if (trial.workdir.empty())
            throw Error(ErrorKind::missing, arguments->trial + " has not been started yet", "run its sweep first");
        const std::filesystem::path log =
            sweeps::below_root(arguments->root, std::filesystem::path(trial.workdir) / "log.txt");
        std::string text = read_file(log);
        print_text(text);
        if (text.empty() && !arguments->follow)
            print_message(reporting::visible(arguments->trial) + " printed nothing\n");
        std::size_t printed = text.size();
        while (arguments->follow && std::ferror(stdout) == 0) {
            // Asked before reading, so that what it wrote last is not missed.
            const bool live = is_live(reader.trial(trial.config_hash));
            text = read_file(log);
            if (text.size() > printed) print_text(text.substr(printed));
            printed = text.size();
            if (!live) break;
            std::this_thread::sleep_for(std::chrono::milliseconds(500));
        }
    });
}

}  // namespace deft::cli
