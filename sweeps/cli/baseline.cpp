// deft baseline: what later sweeps are compared with, pinned by hand and never moved otherwise.

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "reporting/analysis/quality/pinned.h"
#include "reporting/analysis/statistics/seed_comparison.h"
#include "reporting/table.h"
#include "results_db/reader.h"
#include "results_db/sweep_heads.h"
#include "results_db/writer.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/evidence_files.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/results.h"
#include "sweeps/driver/announced_lock.h"
#include "sweeps/driver/driver.h"

namespace deft::cli {

namespace {

struct BaselineArguments {
    std::string name, sweep, reason;
    std::vector<std::string> only;
    std::vector<std::string> from;
    std::string root = sweeps::kDefaultRoot;
};

std::string user_name() {
    const passwd* entry = ::getpwuid(::geteuid());
    return entry != nullptr ? entry->pw_name : fmt::format("user {}", ::geteuid());
}

int pin(const BaselineArguments& arguments) {
    std::vector<results_db::BaselineRow> rows;
    std::string sweep_name;
    std::size_t row_count = 0;
    {
        const std::vector<results_db::NamedEvidence> files = read_evidence(arguments.from);
        const results_db::Reader reader = open_results(arguments.root, files);
        const reporting::Results sweep =
            reporting::selected(find_sweep(reader, arguments.sweep, inputs_below(arguments.root)), arguments.only);
        const auto measured = reporting::measured_rows(sweep, reader.curves(sweep));
        sweep_name = results_db::full_name(sweep);
        row_count = measured.size();
        rows =
            reporting::baseline_rows(measured, sweep_name, {arguments.name, user_name(), arguments.reason, now_ms()});
    }
    make_folder(arguments.root);  // a baseline may be the first of its results
    results_db::Writer(sweeps::database_file(arguments.root), sweeps::announced_lock()).pin_baseline(rows);
    print(fmt::format("Pinned baseline {}: {} and {} of sweep {}.", arguments.name, counted(row_count, "row"),
                      counted(rows.size(), "measure"), sweep_name));
    std::int64_t fewest = rows.front().seeds;
    for (const results_db::BaselineRow& row : rows) fewest = std::min(fewest, row.seeds);
    if (fewest < static_cast<std::int64_t>(reporting::kFewestSeeds))
        print(fmt::format("With {} a side no verdict is given: it takes {}.", counted(fewest, "seed"),
                          reporting::kFewestSeeds));
    return kExitOk;
}

int list(const BaselineArguments& arguments) {
    const std::vector<results_db::BaselineRow> rows = open_results(arguments.root).baselines();
    print(reporting::baseline_table(rows));
    return kExitOk;
}

int retire(const BaselineArguments& arguments) {
    {
        const results_db::Reader reader = open_results(arguments.root);
    }  // refuses a root without results; a writer would make a database
    const std::int64_t rows = results_db::Writer(sweeps::database_file(arguments.root), sweeps::announced_lock())
                                  .retire_baseline(arguments.name);
    print(fmt::format("Retired baseline {}: its {} rows stay, its name is free.", arguments.name, rows));
    return kExitOk;
}

}  // namespace

void add_baseline(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("baseline", "Pin a sweep's results, for deft check quality to compare with");
    command->require_subcommand(1);
    auto arguments = std::make_shared<BaselineArguments>();
    CLI::App* pinning = command->add_subcommand("pin", "Pin a sweep's finished trials under a name");
    pinning->add_option("NAME", arguments->name, "The baseline's name, as in main")->required();
    pinning->add_option("SWEEP", arguments->sweep, kSweepHelp);
    pinning
        ->add_option("--only", arguments->only,
                     "These recipes, rows or trials alone, as in baseline or 'CL at 50%'; several are joined")
        ->allow_extra_args(false);
    add_from(*pinning, arguments->from);
    pinning->add_option("--reason", arguments->reason, "Why it is pinned");
    CLI::App* listing = command->add_subcommand("list", "All baselines, retired ones too");
    CLI::App* retiring = command->add_subcommand("retire", "End a baseline; what it was stays on record");
    retiring->add_option("NAME", arguments->name, "The baseline's name")->required();
    for (CLI::App* one : {pinning, listing, retiring}) add_root(*one, arguments->root);
    pinning->callback([arguments, &context] {
        take_name(arguments->from, arguments->sweep);
        context.exit_code = pin(*arguments);
    });
    listing->callback([arguments, &context] { context.exit_code = list(*arguments); });
    retiring->callback([arguments, &context] { context.exit_code = retire(*arguments); });
}

}  // namespace deft::cli
