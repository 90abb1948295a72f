#include <fmt/format.h>

#include <cmath>

#include "base/text.h"
#include "reporting/analysis/comparison/cost_columns.h"
#include "reporting/analysis/cost/slot_shapes.h"
#include "reporting/analysis/results/sweep_text.h"
#include "reporting/analysis/scores/score_id.h"
#include "reporting/analysis/trace/trace.h"
#include "reporting/numbers.h"
#include "reporting/views/render/named_lines.h"

namespace deft::reporting {

namespace {

using results_db::AttemptRow;

std::string with_unit(double value, const std::string& unit) {
    return exact_text(value) + (unit.empty() ? "" : " " + unit);
}

std::string commit_text(const results_db::Code& code) {
    if (code.git_sha.empty()) return "unknown";
    return code.git_sha + (code.dirty ? " with uncommitted changes" : "");
}

std::string traced_attempt(const AttemptRow& attempt) {
    std::string text = attempt.state;
    if (!attempt.fail_class.empty()) text += ", " + attempt.fail_class;
    if (attempt.started_ms > 0) text += ", " + date_and_time(attempt.started_ms);
    if (attempt.ended_ms > 0) text += " to " + date_and_time(attempt.ended_ms);
    if (attempt.resume_step > 0) text += fmt::format(", from step {}", attempt.resume_step);
    if (!attempt.host.hostname.empty()) text += ", on " + attempt.host.hostname;
    text += batch_text(attempt);
    text += ", commit " + (attempt.code.git_sha.empty() ? "unknown" : short_hash(attempt.code.git_sha)) +
            (attempt.code.dirty ? " + uncommitted changes" : "");
    if (attempt.seconds) {
        text += ", on " + shape_text(attempt.shape) + ": " + parts_text(attempt_parts(attempt));
        if (attempt.price) text += fmt::format(" at {}", price_text(*attempt.price));
    }
    if (!attempt.workdir.empty()) text += ", log " + attempt.workdir + "/log.txt";
    return text;
}

void add_traced_attempts(NamedLines& lines, const char* what, const std::vector<AttemptRow>& attempts) {
    for (const AttemptRow& attempt : attempts)
        lines.add(fmt::format("{} {}", what, attempt.number), traced_attempt(attempt));
}

std::string score_text(const TracedScore& score) {
    const Score& row = score.row;
    std::string text = exact_text(row.value) + (row.unit.empty() ? "" : " " + row.unit);
    if (score.value != row.value) text += fmt::format(", here {}", exact_text(score.value));
    text += fmt::format(" (n = {}{})", row.n, conditions(id_of(row)));
    if (!row.task_version.empty()) text += ", version " + row.task_version;
    if (!row.score_key.empty()) text += ", score key " + short_hash(row.score_key);
    if (!row.git_sha.empty()) text += ", scored by commit " + short_hash(row.git_sha);
    if (!row.model_sha256.empty()) text += ", of weights " + short_hash(row.model_sha256);
    return text;
}

void add_trial(NamedLines& lines, const TracedTrial& one, const std::string& unit) {
    const Trial& trial = one.trial;
    lines.section(one.name);
    lines.add("value", one.value ? with_unit(*one.value, unit) : "none: " + one.waits_for);
    lines.add("configuration hash", trial.config_hash);
    for (const TracedScore& score : one.scores) lines.add(score.row.task + " " + score.row.measure, score_text(score));
    if (trial.attempts == 0) return;
    lines.add("commit", commit_text(trial.code));
    lines.add("program sha256", trial.code.binary_sha256);
    lines.add("host", trial.host.hostname + (trial.host.cpu_model.empty() ? "" : ": " + trial.host.cpu_model));
    lines.add("dataset", trial.dataset_name);
    lines.add("dataset sha256", trial.dataset_sha256);
    if (trial.result) {
        lines.add("checkpoint", fmt::format("{} (step {})", trial.result->path, trial.result->step));
        lines.add("checkpoint sha256", trial.result->sha256);
    }
    lines.add("run folder", trial.workdir);
    add_traced_attempts(lines, "attempt", trial.attempt_rows);
    add_traced_attempts(lines, "evaluation", trial.scoring_rows);
}

void add_lines(NamedLines& lines, const std::string& title, const std::vector<std::string>& texts) {
    if (texts.empty()) return;
    lines.section(title);
    for (const std::string& text : texts) lines.add_lines(text);
}

}  // namespace

std::string render_trace(const Trace& trace) {
    NamedLines lines;
    lines.section(fmt::format("{}, {} of sweep {}", trace.column, trace.row, trace.sweep));
    lines.add("in the table", trace.cell + (trace.flag.empty() ? "" : " †") + (trace.stale.empty() ? "" : " ¶"));
    lines.add("exactly", trace.value ? with_unit(*trace.value, trace.unit) : "nothing is measured yet");
    if (trace.spread) lines.add("spread", exact_text(*trace.spread));
    if (!trace.how.empty()) lines.add("how", trace.how);
    if (!trace.published.empty()) lines.add("published", trace.published);
    if (!trace.flag.empty()) lines.add("† not measured", trace.flag);
    if (!trace.stale.empty()) lines.add("¶ stale", trace.stale);
    add_lines(lines, "It waits for", trace.waits_for);
    for (const TracedTrial& one : trace.trials) add_trial(lines, one, trace.unit);
    if (trace.baseline.empty())
        add_lines(lines, "Configuration", {"This row is the baseline; the first command below prints all of it."});
    else
        add_lines(lines, "Configuration, against " + trace.baseline,
                  trace.differences.empty() ? std::vector<std::string>{"nothing differs"} : trace.differences);
    lines.section("To see it");
    for (const TracedCommand& command : trace.commands) lines.add(command.what, command.line);
    if (!trace.repeat.empty()) {
        lines.section("To repeat it");
        for (const TracedCommand& command : trace.repeat) lines.add_lines(command.line);
    }
    add_lines(lines, "What that rests on", trace.rests_on);
    return lines.take();
}

}  // namespace deft::reporting
