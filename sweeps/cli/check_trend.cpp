// deft check trend: did the level of a benchmark change recently?

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "reporting/analysis/trend/trend_check.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/gate_options.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/results.h"
#include "sweeps/gate/bench_cases.h"

namespace deft::cli {

namespace {

struct CheckTrendArguments {
    std::vector<std::string> patterns;
    bool all = false;
    reporting::TrendRule rule;
    GateOptions gate;
};

reporting::CheckReport check_trend(const CheckTrendArguments& arguments) {
    std::vector<reporting::BenchSeries> series =
        reporting::bench_series(open_results(arguments.gate.root).bench_history());
    sweeps::keep_matching(series, arguments.patterns);
    const std::vector<reporting::TrendFinding> findings = reporting::check_trend(series, arguments.rule);
    std::vector<reporting::Judged> judged;
    for (const reporting::TrendFinding& one : findings) judged.push_back(one.judged);
    const reporting::CheckReport report = reporting::trend_report(findings);
    record_and_print(report, reporting::trend_table(findings, arguments.rule, arguments.all), judged,
                     rule_json(arguments.rule), arguments.gate);
    return report;
}

}  // namespace

void add_check_trend(CLI::App& check, Context& context) {
    auto arguments = std::make_shared<CheckTrendArguments>();
    CLI::App* command = check.add_subcommand("trend", "Did a benchmark become slower recently?");
    add_patterns(*command, arguments->patterns);
    add_number(*command, "--smallest-change", arguments->rule.change.smallest_change,
               "By how much a case must be slower to be a regression, as a fraction", 0.001, 10.0);
    command->add_flag("--all", arguments->all, "Show the series that did not change, too");
    add_gate_options(*command, arguments->gate);
    command->callback([arguments, &context] {
        prepare_outputs(arguments->gate);
        context.exit_code = finish_check(check_trend(*arguments), arguments->gate);
    });
}

}  // namespace deft::cli
