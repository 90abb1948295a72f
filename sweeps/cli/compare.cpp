// deft compare: two trials, rows or sweeps side by side.

#include "reporting/analysis/compare/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "results_db/reader.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/compared_sides.h"
#include "sweeps/cli/evidence_files.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/results.h"

namespace deft::cli {

namespace {

std::string rendered(const reporting::Comparison& comparison, const std::string& format, int width) {
    if (format == "json") return reporting::render_comparison_json(comparison);
    if (format == "html") return reporting::render_comparison_page(comparison);
    if (format == "csv") return render_table(reporting::comparison_lines(comparison), format, width);
    std::string text;
    for (const reporting::Table& table : reporting::comparison_tables(comparison))
        text += (text.empty() ? "" : "\n") + render_table(table, format, width);
    return text;
}

bool has_numbers(const reporting::Comparison& comparison) {
    for (const reporting::RowComparison& rows : comparison.rows)
        if (!rows.losses.rows.empty() || !rows.scores.empty()) return true;
    return false;
}

}  // namespace

void add_compare(CLI::App& app, Context& context) {
    struct Arguments {
        std::string a, b;
        std::vector<std::string> from;
        std::string root = sweeps::kDefaultRoot;
        std::string by = "layer-tokens";
        std::string format = "term";
        std::string out;
    };
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand(
        "compare",
        "Show two trials, rows or sweeps side by side: configurations, losses at equal cost, scores with verdicts");
    command
        ->add_option("A", arguments->a,
                     "What B is measured by: a sweep (NAME or NAME@HASH); a recipe, a row ('RECIPE at 50%') or a trial "
                     "(RECIPE/SEED, "
                     "or the start of its hash) of the newest sweep; SWEEP:RECIPE, SWEEP:ROW or SWEEP:TRIAL")
        ->required();
    command->add_option("B", arguments->b, "Likewise")->required();
    add_root(*command, arguments->root);
    add_from(*command, arguments->from);
    std::map<std::string, reporting::Cost> costs;
    std::vector<std::string> names;
    for (const reporting::CostWords& words : reporting::cost_words()) {
        costs.emplace(words.name, words.cost);
        names.emplace_back(words.name);
    }
    command
        ->add_option("--by", arguments->by,
                     fmt::format("The cost at which losses are compared: {}", fmt::join(names, ", ")))
        ->check(CLI::IsMember(names))
        ->capture_default_str();
    command->add_option("--format", arguments->format, "The format: term, md, csv, tex, json or html")
        ->check(CLI::IsMember(report_formats()))
        ->capture_default_str();
    add_json_flag(*command, arguments->format);
    command->add_option("--out", arguments->out, "Write it to this file");
    command->callback([arguments, costs, &context] {
        const results_db::Reader reader = open_results(arguments->root, read_evidence(arguments->from));
        const auto a = named_side(reader, arguments->a, arguments->root),
                   b = named_side(reader, arguments->b, arguments->root);
        const reporting::Comparison comparison =
            reporting::compare(a->side, b->side, costs.at(arguments->by),
                               [&](const reporting::Trial& trial, const reporting::Score& score) {
                                   return reader.items_of_score(trial.config_hash, score);
                               });
        print_to(arguments->out, with_short_home(rendered(comparison, arguments->format,
                                                          arguments->out.empty() ? output_width() : kPlainWidth)));
        context.exit_code = has_numbers(comparison) ? kExitOk : kExitNothing;
    });
}

}  // namespace deft::cli
