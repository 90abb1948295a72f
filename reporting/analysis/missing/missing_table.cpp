#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "reporting/analysis/missing/missing_runs.h"
#include "reporting/analysis/results/sweep_text.h"
#include "reporting/numbers.h"
#include "reporting/ordered_json.h"

namespace deft::reporting {

namespace {

const char* text_of(Lack lack) {
    switch (lack) {
        case Lack::training:
            return "train";
        case Lack::scoring:
            return "score";
        case Lack::seeds:
            return "seeds";
        case Lack::edit:
            break;
    }
    return "edit";
}

// Totals over the entries that are run.
struct Total {
    std::size_t runs = 0, edits = 0, untimed = 0;
    double flops = 0, seconds = 0, usd = 0;

    explicit Total(const std::vector<MissingRun>& all) {
        for (const MissingRun& run : all) {
            if (run.lack == Lack::edit) {
                ++edits;
                continue;
            }
            ++runs;
            untimed += !run.seconds;
            flops += run.flops.value_or(0);
            seconds += run.seconds.value_or(0);
            usd += run.usd.value_or(0);
        }
    }
};

std::string total_text(const Total& total) {
    if (total.runs == 0) return "Nothing is left to run.";
    std::string text = fmt::format("Total: {}", counted(total.runs, "run"));
    if (total.flops > 0) text += ", " + si(total.flops, "FLOP");
    if (total.seconds > 0) text += ", about " + rough_seconds(total.seconds) + " on one worker";
    if (total.usd > 0) text += ", " + dollars(total.usd);
    if (total.untimed > 0) text += fmt::format("; {} without an estimate", total.untimed);
    return text + ".";
}

template <class Print>
Cell cell_of(const std::optional<double>& value, const Print& print) {
    return value ? Cell(print(*value), *value) : Cell("-");
}

}  // namespace

Table missing_table(const MissingRuns& missing, const Results& sweep) {
    Table table;
    table.caption = "Missing results of sweep " + sweep_text(sweep) + ", cheapest first" +
                    (missing.command.empty() ? "" : ". To run all: " + missing.command);
    table.key_columns = 1;
    table.columns = {{"what", Align::left}, {"to do", Align::left}, {"why", Align::left}, {"FLOPs"}};
    table.columns.push_back({"time", Align::right, false, false, "s"});
    table.columns.push_back({"cost", Align::right, false, false, "USD"});
    table.columns.push_back({"fills", Align::left, true});
    table.columns.push_back({"command", Align::left});
    for (const MissingRun& run : missing.runs)
        table.rows.push_back({run.name, run.lack == Lack::scoring ? "evaluate" : text_of(run.lack), run.why,
                              cell_of(run.flops, [](double value) { return si(value); }),
                              cell_of(run.seconds, [](double value) { return short_seconds(value); }),
                              cell_of(run.usd, [](double value) { return dollars(value); }), run.fills, run.command});
    const Total total(missing.runs);
    table.notes.push_back(total_text(total));
    if (total.runs > 0)
        table.notes.push_back(
            "Time and cost come from a finished seed of the row, or from planned FLOPs at the measured speed and "
            "price. Evaluation takes the mean time per task.");
    if (total.edits > 0)
        table.notes.push_back(
            fmt::format("{} a change of the sweep file.",
                        total.edits == 1 ? "One line needs" : fmt::format("{} lines need", total.edits)));
    return table;
}

std::string render_missing_json(const MissingRuns& missing, const Results& sweep) {
    OrderedJson list = OrderedJson::array();
    for (const MissingRun& run : missing.runs)
        list.push_back({{"what", run.name},
                        {"to_do", text_of(run.lack)},
                        {"why", run.why},
                        {"fills", run.fills},
                        {"flops", json_number(run.flops)},
                        {"seconds", json_number(run.seconds)},
                        {"usd", json_number(run.usd)},
                        {"command", run.command}});
    const Total total(missing.runs);
    return json_text({{"schema", "deft-missing/1"},
                      {"sweep", sweep_text(sweep)},
                      {"runs", std::move(list)},
                      {"command", missing.command},
                      {"total",
                       {{"runs", total.runs},
                        {"edits", total.edits},
                        {"without_estimate", total.untimed},
                        {"flops", total.flops},
                        {"seconds", total.seconds},
                        {"usd", total.usd}}}});
}

}  // namespace deft::reporting
