// deft bench import: another program's benchmarks into the same history.

#include <fmt/format.h>

#include <memory>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "reporting/numbers.h"
#include "reporting/table.h"
#include "sweeps/cli/bench_commands.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/gate/import_bench.h"

namespace deft::cli {

namespace {

struct BenchImportArguments {
    std::string file;
    std::string root = sweeps::kDefaultRoot;
    sweeps::ImportNames names;
};

void add_notes(reporting::Table& table, const sweeps::ImportedSession& imported) {
    constexpr std::size_t kMostNamed = 10;
    if (!imported.dated)
        table.notes.push_back("The file has no date that can be read: the time of this import replaces it.");
    if (imported.summarised > 0)
        table.notes.push_back(fmt::format(
            "{} series have no repetitions in the file: their median or mean replaces them.", imported.summarised));
    if (imported.code.git_sha == "unknown")
        table.notes.push_back("The commit that was measured is unknown: give it with --commit.");
    for (std::size_t i = 0; i < std::min(kMostNamed, imported.left_out.size()); ++i)
        table.notes.push_back(
            fmt::format("Left out: {}: {}.", imported.left_out[i].first, imported.left_out[i].second));
    if (imported.left_out.size() > kMostNamed)
        table.notes.push_back(fmt::format("{} more were left out.", imported.left_out.size() - kMostNamed));
}

int run_bench_import(const BenchImportArguments& arguments) {
    const sweeps::ImportedSession imported = sweeps::import_bench(arguments.file, arguments.root, arguments.names);
    if (!imported.is_new) {
        print(fmt::format("{} is in {} already; nothing was added", arguments.file, arguments.root));
        return kExitOk;
    }
    reporting::Table table;
    using reporting::Align;
    table.columns = {{"program", Align::left},
                     {"measured", Align::left},
                     {"commit", Align::left},
                     {"host", Align::left},
                     {"compiler", Align::left},
                     {"series"},
                     {"samples"}};
    table.rows = {{imported.program, reporting::date(imported.measured_ms), short_hash(imported.code.git_sha),
                   imported.host.hostname, imported.code.compiler, std::to_string(imported.series),
                   std::to_string(imported.samples)}};
    add_notes(table, imported);
    print(table);
    return kExitOk;
}

}  // namespace

Run bench_import(CLI::App& command) {
    auto arguments = std::make_shared<BenchImportArguments>();
    command
        .add_option("FILE", arguments->file,
                    "Google Benchmark's JSON, written with --benchmark_out=FILE --benchmark_out_format=json")
        ->required();
    command.add_option("--name", arguments->names.program, "The program's name; without it, that of its executable");
    command.add_option("--commit", arguments->names.commit, "The commit that was measured");
    command.add_option("--compiler", arguments->names.compiler, "The compiler that built the program");
    command.add_option("--host", arguments->names.host, "The machine's name, where the file has another each time");
    add_root(command, arguments->root);
    return [arguments] { return run_bench_import(*arguments); };
}

}  // namespace deft::cli
