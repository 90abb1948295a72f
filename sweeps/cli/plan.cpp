// deft plan: what a sweep would train and consume, without training.

#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <optional>

#include "reporting/axes.h"
#include "reporting/numbers.h"
#include "reporting/table.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/spec_options.h"
#include "sweeps/text.h"

namespace deft::cli {

namespace {

struct Arguments {
    SpecArguments spec;
    bool memory = false;
    bool print_config = false;
};

std::string or_dash(const std::string& text) {
    return text.empty() ? "-" : text;
}

void drop_column(reporting::Table& table, std::size_t column) {
    const auto at = static_cast<std::ptrdiff_t>(column);
    table.columns.erase(table.columns.begin() + at);
    for (auto& row : table.rows) row.erase(row.begin() + at);
    if (column < table.key_columns) --table.key_columns;
}

// One row a variant: seeds differ in nothing that is planned.
reporting::Table plan_table(const sweeps::Spec& spec, const std::vector<sweeps::Point>& points) {
    using reporting::Align;
    using reporting::si;
    reporting::Table table;
    table.caption = fmt::format("Sweep {}, scale: {}", spec.name, spec.scale.empty() ? "as written" : spec.scale);
    table.columns = {
        {"case", Align::left},   {"budget"},        {"axes", Align::left}, {"seeds"},         {"steps"},
        {"parameters"},          {"input\ntokens"}, {"layer-avg\ntokens"}, {"FLOPs\na seed"}, {"memory\na seed"},
        {"variant", Align::left}};
    table.key_columns = 3;
    double flops = 0;
    bool any_axis = false;
    for (std::size_t i = 0; i < points.size();) {
        std::size_t end = i;
        while (end < points.size() && points[end].variant_hash == points[i].variant_hash)
            flops += points[end++].projection.flops;
        const experiments::Projection& projection = points[i].projection;
        const reporting::Axes axes = reporting::parse_axes(points[i].axes.dump());
        any_axis = any_axis || !axes.others.empty();
        table.rows.push_back(
            {points[i].case_name, axes.has_budget ? axes.budget_text() : "-", or_dash(axes.others_text()),
             std::to_string(end - i), std::to_string(projection.steps), si(static_cast<double>(projection.parameters)),
             si(static_cast<double>(projection.input_tokens)), si(static_cast<double>(projection.layer_tokens)),
             si(projection.flops), sweeps::bytes_text(static_cast<double>(projection.memory_bytes)),
             points[i].variant_hash.substr(0, 8)});
        i = end;
    }
    if (!any_axis) drop_column(table, 2);
    table.notes.push_back(fmt::format("{} trials, {} in all.", points.size(), si(flops, "FLOP")));
    return table;
}

int run(const Arguments& arguments) {
    const sweeps::Spec spec = arguments.spec.load();
    std::vector<sweeps::Point> points = sweeps::expand(spec, sweeps::Data::may_be_missing);
    std::erase_if(points, [&](const sweeps::Point& point) { return !arguments.spec.selects(point); });
    if (points.empty()) throw Error(ErrorKind::usage, "the excludes leave no point of these cases");
    if (arguments.print_config) {
        Json all = Json::array();
        for (const sweeps::Point& point : points)
            all.push_back({{"case", point.case_name},
                           {"axes", point.axes},
                           {"seed", point.seed},
                           {"config_hash", point.config_hash},
                           {"variant_hash", point.variant_hash},
                           {"config", experiments::to_json(point.config)}});
        print(all.dump(2));
        return kExitOk;
    }
    print(reporting::render_terminal(plan_table(spec, points), output_width()));
    if (arguments.memory) {
        print(fmt::format("\nMemory of {}:", points.front().name()));
        print(experiments::memory_table(points.front().config));
    }
    return kExitOk;
}

}  // namespace

void add_plan(CLI::App& app, Context& context) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand("plan", "Show what a sweep would train and consume");
    arguments->spec.add_to(*command);
    command->add_flag("--memory", arguments->memory, "List the buffers of the first point");
    command->add_flag("--print-config", arguments->print_config, "Print each point's whole configuration as JSON");
    command->callback([arguments, &context] { context.exit_code = run(*arguments); });
}

}  // namespace deft::cli
