// deft bench history: how each benchmark's times went over the sessions in the database.

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "reporting/analysis/trend/history_table.h"
#include "reporting/views/json/history_json.h"
#include "reporting/views/page/history_page.h"
#include "results_db/reader.h"
#include "sweeps/cli/bench_commands.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/results.h"
#include "sweeps/gate/bench_cases.h"

namespace deft::cli {

namespace {

struct BenchHistoryArguments {
    std::string root = sweeps::kDefaultRoot;
    std::string html;
    std::string format = "term";
    std::vector<std::string> patterns;
};

int run_bench_history(const BenchHistoryArguments& arguments) {
    const results_db::Reader reader = open_results(arguments.root);
    std::vector<reporting::BenchSeries> series = reporting::bench_series(reader.bench_history());
    if (series.empty())
        throw Error(ErrorKind::missing, fmt::format("no benchmark has been recorded in {}", arguments.root),
                    "measure some: deft bench run; or deft bench import FILE");
    sweeps::keep_matching(series, arguments.patterns);
    const std::vector<reporting::SeriesHistory> histories = reporting::series_histories(series);
    if (!arguments.html.empty()) write_file_atomically(arguments.html, reporting::render_history_page(histories));
    if (arguments.format == "json") {
        print_exact(reporting::render_history_json(histories));
        return kExitOk;
    }
    print(reporting::history_table(histories));
    if (!arguments.html.empty()) print(fmt::format("page: {}", arguments.html));
    return kExitOk;
}

}  // namespace

Run bench_history(CLI::App& command) {
    auto arguments = std::make_shared<BenchHistoryArguments>();
    add_patterns(command, arguments->patterns);
    command.add_option("--html", arguments->html, "Write a page with charts to this file, too");
    command.add_option("--format", arguments->format, "The format: term, or json (schema deft-bench-history/1)")
        ->check(CLI::IsMember({"term", "json"}))
        ->capture_default_str();
    add_json_flag(command, arguments->format);
    add_root(command, arguments->root);
    return [arguments] { return run_bench_history(*arguments); };
}

}  // namespace deft::cli
