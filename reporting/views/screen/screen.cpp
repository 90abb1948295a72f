#include "reporting/views/screen/screen.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "reporting/analysis/cost/occupancy.h"
#include "reporting/analysis/results/sweep_text.h"
#include "reporting/analysis/trace/origins.h"
#include "reporting/fit_lines.h"
#include "reporting/numbers.h"
#include "reporting/text.h"
#include "reporting/views/screen/screen_answer.h"
#include "reporting/views/screen/screen_rows.h"

namespace deft::reporting {

namespace {

constexpr std::size_t kLabel = 9;  // columns of "Caution  "

// All attempts, at training and at evaluation, that have ended; a training that several places share counts once.
Occupancy attempts_of(const Results& sweep) {
    std::vector<std::pair<std::int64_t, std::int64_t>> intervals;
    std::set<std::string> seen;
    for (const auto* trials : {&sweep.trials, &sweep.searched})
        for (const Trial& trial : *trials) {
            if (!seen.insert(trial.config_hash).second) continue;
            for (const auto* rows : {&trial.attempt_rows, &trial.scoring_rows})
                for (const results_db::AttemptRow& attempt : *rows)
                    intervals.emplace_back(attempt.started_ms > 0 ? attempt.started_ms : attempt.created_ms,
                                           attempt.ended_ms);
        }
    return occupancy(intervals);
}

// Dollars of all attempts; nothing where one of them has no price.
std::optional<double> dollars_of(const Results& sweep) {
    double sum = 0;
    std::set<std::string> seen;
    for (const auto* trials : {&sweep.trials, &sweep.searched})
        for (const Trial& trial : *trials) {
            if (!seen.insert(trial.config_hash).second || trial.imported || trial.attempts == 0) continue;
            if (!trial.usd_parts) return std::nullopt;
            sum += trial.usd_parts->whole();
        }
    return sum;
}

std::string headline_of(const Results& sweep) {
    std::size_t done = 0, failed = 0;
    for (const Trial& trial : sweep.trials) {
        done += trial.state == "ok" && trial.unscored() == 0 ? 1 : 0;
        failed += trial.state == "failed" ? 1 : 0;
    }
    std::string text = fmt::format("{}: {} of {} done", sweep_text(sweep), done, counted(sweep.trials.size(), "trial"));
    if (failed > 0) text += fmt::format(", {} failed", failed);
    if (const Occupancy attempts = attempts_of(sweep); attempts.most_at_once > 0)
        text += fmt::format("{} in {} on {}", failed > 0 ? "," : "", seconds(attempts.seconds),
                            counted(attempts.most_at_once, "worker"));
    if (const std::optional<double> usd = dollars_of(sweep); usd && *usd > 0) text += ", " + dollars(*usd);
    return text;
}

std::vector<ScreenEntry> links_of(const ScreenPlaces& places) {
    std::vector<ScreenEntry> links;
    if (!places.page.empty()) links.push_back({"Page", places.page});
    const std::string sweep = places.sweep.empty() ? "" : " " + shell_word(places.sweep);
    links.push_back({"More", "", fmt::format("deft report{} --full{}", sweep, places.options)});
    return links;
}

// A command stays whole where a line has room for it, so that it can be pasted.
std::string entry_text(const ScreenEntry& entry, int width) {
    const std::string label = entry.label + std::string(kLabel - std::min(kLabel, entry.label.size()), ' ');
    const std::string indent(kLabel, ' '), command = printable(entry.command);
    if (entry.text.empty()) return fit_lines(label + command, width) + "\n";
    std::vector<std::string> lines = wrap(label + printable(entry.text), width, indent);
    const std::string joined = lines.back() + " " + command;
    if (!command.empty() && (width <= 0 || display_width(joined) <= width))
        lines.back() = joined;
    else if (!command.empty())
        lines.push_back(fit_lines(indent + command, width));
    return fmt::format("{}\n", fmt::join(lines, "\n"));
}

std::size_t lines_in(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

StageResults answering_stage(const ReportData& data) {
    std::vector<StageResults> stages = stages_of(data.sweep);
    if (stages.size() == 1) return std::move(stages.front());
    const auto has_measure = [&](const StageResults& stage) {
        return screen_rows(stage.sweep, about_stage(data.about, stage)).measure.has_value();
    };
    if (data.about.published && !data.about.published->stage.empty())
        for (StageResults& stage : stages)
            if (stage.name == data.about.published->stage && has_measure(stage)) return std::move(stage);
    for (StageResults& stage : stages)
        if (has_measure(stage)) return std::move(stage);
    return std::move(stages.front());
}

Screen screen_of(const ReportData& data, const ScreenPlaces& places, int width) {
    Screen screen;
    screen.headline = headline_of(data.sweep);
    screen.links = links_of(places);
    if (data.sweep.trials.empty()) return screen;
    const StageResults stage = answering_stage(data);
    const SweepAbout about = about_stage(data.about, stage);
    const ScreenRows rows = screen_rows(stage.sweep, about);
    screen.entries = screen_entries(data, rows, stage.sweep, about, places);
    if (const auto stages = stage_names(data.sweep); stages.size() > 1)
        screen.entries.push_back({"Stages", fmt::format("the table shows stage {}, one of {}; --full shows all.",
                                                        stage.name, stages.size())});
    // The table has the lines that the paragraphs leave, and never fewer than two rows.
    std::size_t rows_shown = std::min(rows.rows.size(), kScreenLines);
    do screen.table = screen_table(rows, stage.sweep, about, rows_shown, width);
    while (lines_in(render_screen(screen, width)) > kScreenLines && rows_shown-- > 2);
    return screen;
}

std::string render_screen(const Screen& screen, int width) {
    std::string out;
    const auto add = [&](const std::string& text, const std::string& indent) {
        for (const std::string& line : wrap(printable(text), width, indent)) out += line + "\n";
    };
    add(screen.headline, "  ");
    if (!screen.table.columns.empty()) {
        Table rows = screen.table;
        rows.notes.clear();
        out += "\n" + render_terminal(rows, width);
        for (const std::string& note : screen.table.notes) add("(" + note + ")", " ");
    }
    for (const auto* entries : {&screen.entries, &screen.links}) {
        if (!entries->empty()) out += "\n";
        for (const ScreenEntry& entry : *entries) out += entry_text(entry, width);
    }
    return out;
}

}  // namespace deft::reporting
