#include "reporting/views/text/status.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/json.h"
#include "base/score_key.h"
#include "base/text.h"
#include "reporting/analysis/comparison/cost_columns.h"
#include "reporting/analysis/cost/slot_shapes.h"
#include "reporting/analysis/results/imported.h"
#include "reporting/analysis/results/sweep_text.h"
#include "reporting/analysis/scores/score_id.h"
#include "reporting/analysis/scores/scoring_notes.h"
#include "reporting/numbers.h"
#include "reporting/text.h"
#include "reporting/views/page/expert_routing.h"
#include "reporting/views/render/named_lines.h"
#include "results_db/sweep_heads.h"
#include "results_db/trial_name.h"

namespace deft::reporting {

namespace {

std::string error_text(const Trial& trial) {
    if (trial.state == "ok" && trial.unscored() > 0 && !trial.scoring_rows.empty()) {
        const results_db::AttemptRow& last = trial.scoring_rows.back();
        if (!last.fail_class.empty()) return fmt::format("evaluation: {}: {}", last.fail_class, last.error);
    }
    if (trial.error.empty()) return trial.fail_class;
    return trial.fail_class.empty() ? trial.error : trial.fail_class + ": " + trial.error;
}

void add_counts(NamedLines& lines, const Trial& trial) {
    lines.section("Counts");
    if (trial.parameters > 0) lines.add("parameters", si(static_cast<double>(trial.parameters)));
    if (!trial.last_point) {
        lines.add("steps", trial.imported ? "none: the model is imported" : "none yet");
        return;
    }
    const journal::TrainPoint& point = *trial.last_point;
    lines.add("steps", trial.total_steps > 0 ? fmt::format("{} of {}", point.step, trial.total_steps)
                                             : fmt::format("{}", point.step));
    lines.add("input tokens", fmt::format("{}", point.input_tokens));
    lines.add("unique corpus tokens", fmt::format("{}", point.unique_tokens));
    lines.add("consumed tokens (layer-averaged)", fmt::format("{}", point.layer_tokens));
    lines.add("FLOPs", si(point.flops));
    lines.add("train wall time", seconds(static_cast<double>(point.wall_ms) / 1000));
    lines.add("last loss", score(point.loss));
    lines.add("last learning rate", fmt::format("{:.3g}", point.lr));
    lines.add("last gradient norm", score(point.grad_norm));
    if (trial.result && selects_best(trial))
        lines.add("result", trial.result->role == "best"
                                ? fmt::format("weights with the best validation, from step {}", trial.result->step)
                                : "last weights, which have the best validation");
}

void add_scores(NamedLines& lines, const Trial& trial) {
    lines.section("Scores");
    if (trial.scores.empty()) lines.add("scores", "none yet");
    for (const Score& row : trial.scores) {
        std::string text = score(row.value);
        if (!row.unit.empty()) text += " " + row.unit;
        text += fmt::format(" (n = {}", row.n);
        if (!std::isnan(row.standard_error)) text += ", standard error " + score(row.standard_error);
        if (!std::isnan(row.chance)) text += ", chance " + score(row.chance);
        text += conditions(id_of(row)) + fmt::format(", step {})", row.step);
        lines.add(row.task + " " + row.measure, text);
    }
}

// "ok", or "trained, 2 of 3 evaluated" where requested tasks remain; "imported" replaces both for an imported model.
std::string state_text(const Trial& trial) {
    if (trial.state != "ok") return trial.state + (trial.imported ? " (imported)" : "");
    if (!trial.newer_state.empty())
        return fmt::format("{}, stale: its inputs changed; with the current inputs {} ({})", trial.state,
                           trial.newer_state, trial.newer_hash.substr(0, 8));
    if (trial.unscored() == 0) return trial.imported ? "imported" : trial.state;
    const auto asked = static_cast<std::int64_t>(trial.asked.size());
    return fmt::format("{}, {} of {} evaluated", trial.imported ? "imported" : "trained", asked - trial.unscored(),
                       asked);
}

// The checkpoint and the program of each evaluation.
void add_scoring(NamedLines& lines, const Trial& trial) {
    lines.section("Evaluation");
    for (const results_db::AskedScore& asked : trial.asked)
        if (!asked.is_scored) lines.add(asked.task, "not evaluated yet");
    std::set<std::string> listed;
    for (const Score& row : trial.scores) {
        if (row.score_key.empty() || !listed.insert(row.score_key).second) continue;
        std::string text = "checkpoint " + (row.model_sha256.empty() ? "unknown" : row.model_sha256.substr(0, 16)) +
                           fmt::format(" at step {}, by commit {}", row.step, row.git_sha.substr(0, 12));
        if (row.cut_share > 0) text += fmt::format(", {:.1f}% of the prompts truncated", 100 * row.cut_share);
        if (row.shots > 0) text += fmt::format(", {:.1f} of {} shots left", row.mean_shots, row.shots);
        lines.add(row.task + (row.shots > 0 ? fmt::format(", {} shots", row.shots) : ""), text);
    }
}

std::string cost_text(const Trial& trial) {
    if (trial.imported) return "";
    if (trial.usd) return dollars(*trial.usd);
    return trial.device_seconds > 0 ? "no price: set [price] in the sweep file and run it again" : "";
}

std::string usd_of(const results_db::AttemptRow& attempt) {
    results_db::CostParts usd;
    usd.add(*attempt.seconds, attempt.devices() * attempt.usd_per_second());
    return dollars(usd.whole());
}

std::string attempt_text(const results_db::AttemptRow& attempt) {
    std::string text = attempt.state;
    if (!attempt.fail_class.empty()) text += ", " + attempt.fail_class;
    if (attempt.started_ms > 0) text += ", " + date_and_time(attempt.started_ms);
    if (attempt.ended_ms > 0) text += " to " + date_and_time(attempt.ended_ms);
    if (attempt.resume_step > 0) text += fmt::format(", from step {}", attempt.resume_step);
    text += ", on " + shape_text(attempt.shape);
    if (!attempt.job.empty() && !attempt.host.hostname.empty()) text += " of " + attempt.host.hostname;
    text += batch_text(attempt);
    if (attempt.own_seconds && *attempt.own_seconds > 0) text += ", trained " + seconds(*attempt.own_seconds);
    if (attempt.seconds)
        text += "; " + parts_text(attempt_parts(attempt));
    else if (attempt.device_seconds)
        text += ", device time " + seconds(*attempt.device_seconds);
    if (attempt.seconds && attempt.price)
        text += fmt::format(", {} at {}", usd_of(attempt), price_text(*attempt.price));
    else if (attempt.usd)
        text += fmt::format(", {} at {}", dollars(*attempt.usd), price_text(*attempt.price));
    return text + (attempt.counts ? "" : ", not counted: the result contains none of its work");
}

// The parts that the cost sums.
void add_attempts(NamedLines& lines, const Trial& trial) {
    if (trial.attempt_rows.empty()) return;
    lines.section("Attempts");
    for (const results_db::AttemptRow& attempt : trial.attempt_rows)
        lines.add(fmt::format("attempt {}", attempt.number), attempt_text(attempt));
    for (const results_db::AttemptRow& attempt : trial.scoring_rows)
        lines.add(fmt::format("evaluation {}", attempt.number), attempt_text(attempt));
}

// "libc glibc 2.36, oneDNN 2.6.3".
std::string libraries_text(const Trial& trial) {
    for (const results_db::AttemptRow& attempt : trial.attempt_rows) {
        if (attempt.uid != trial.attempt_uid) continue;
        const Json libraries = try_parse_json(attempt.libraries_json);
        std::string text;
        if (libraries.is_object())
            for (const auto& [name, version] : libraries.items())
                text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name,
                                    version.is_string() ? version.get<std::string>() : version.dump());
        return text;
    }
    return {};
}

void add_provenance(NamedLines& lines, const Trial& trial) {
    lines.section("Provenance");
    const results_db::Code& code = trial.code;
    lines.add("commit", code.git_sha + (code.git_branch.empty() ? "" : " (" + code.git_branch + ")"));
    lines.add("uncommitted changes", code.dirty ? "yes, diff " + code.diff_sha256 : "no");
    lines.add("program", code.binary_sha256);
    lines.add("compiler", code.compiler);
    lines.add("flags", code.cxx_flags);
    lines.add("build type", code.build_type);
    lines.add("libraries", libraries_text(trial));
    const results_db::Host& host = trial.host;
    lines.add("host", host.hostname);
    lines.add("cpu", fmt::format("{}, {} cores, {} threads", host.cpu_model, host.cores, host.threads));
    lines.add("memory", si(static_cast<double>(host.mem_bytes), "B"));
    lines.add("system", host.os + (host.kernel.empty() ? "" : ", " + host.kernel));
    lines.add("dataset", trial.dataset_name);
    lines.add("dataset hash", trial.dataset_sha256);
}

// Sweeps of the same name that --set, --scale or an edited file distinguish.
std::string other_runs(const results_db::SweepHead& sweep, const std::vector<results_db::SweepHead>& all) {
    std::string text;
    for (const results_db::SweepHead& other : all) {
        if (other.name != sweep.name || other.spec_sha256 == sweep.spec_sha256) continue;
        const std::string changed = results_db::overrides_text(other);
        text += fmt::format("{}{} ({}{}, {})", text.empty() ? "" : "; ", results_db::full_name(other),
                            other.scale.empty() ? "as written" : "scale " + other.scale,
                            changed.empty() ? "" : ", " + changed, date(other.created_ms));
    }
    return text.empty() ? "" : fmt::format("this is {}; other runs: {}", results_db::full_name(sweep), text);
}

}  // namespace

Table status_table(const Results& sweep, const std::vector<results_db::SweepHead>& all) {
    Table table;
    table.caption = "Sweep " + sweep_text(sweep);
    table.key_columns = 2;
    table.columns = {{"hash", Align::left}, {"trial", Align::left}, {"state", Align::left}, {"attempts"}, {"step"},
                     {"last\nloss"},        {"consumed\ntokens"},   {"error", Align::left}};
    std::map<std::string, int> states;
    int left_to_score = 0, merged = 0;
    const auto add = [&](const Trial& trial) {
        ++states[trial.state];
        if (trial.is_merged()) ++merged;
        if (trial.state == "ok" && trial.unscored() > 0) ++left_to_score;
        std::string step = "-", loss = "-", tokens = "-";
        if (trial.last_point) {
            step = trial.total_steps > 0 ? fmt::format("{}/{}", trial.last_point->step, trial.total_steps)
                                         : fmt::format("{}", trial.last_point->step);
            loss = score(trial.last_point->loss);
            tokens = si(static_cast<double>(trial.last_point->layer_tokens));
        }
        table.rows.push_back({trial.config_hash.substr(0, 8), results_db::trial_name(trial), state_text(trial),
                              fmt::format("{}", trial.attempts), step, loss, tokens,
                              printable(first_line(error_text(trial)))});
    };
    for (const Trial& trial : sweep.trials) add(trial);
    for (const Trial& trial : sweep.searched) add(trial);
    std::string counts = fmt::format("{} trials", table.rows.size());
    for (const auto& [state, count] : states) counts += fmt::format(", {} {}", count, state);
    if (left_to_score > 0) counts += fmt::format(", {} left to evaluate", left_to_score);
    table.notes.push_back(counts);
    if (merged > 0)
        table.notes.push_back(fmt::format("{} of them {} merged from another root, without logs and checkpoints",
                                          merged, merged == 1 ? "was" : "were"));
    if (const std::string others = other_runs(sweep, all); !others.empty()) table.notes.push_back(others);
    return table;
}

namespace {

// The trial whose weights it starts from; empty: random initialization.
std::string start_text(const Trial& trial) {
    if (trial.imported) return origin_text(*trial.imported);
    if (!trial.settings.has_start) return {};
    const std::string& start = trial.settings.start_trial;
    return "the weights of trial " + (start.empty() ? "unknown" : short_hash(start));
}

}  // namespace

namespace {

// The stated training cost of an imported model.
void add_stated(NamedLines& lines, const results_db::ImportedModel& model) {
    lines.section("Stated in the sweep's file, not measured");
    const auto add = [&](const char* name, double value, const auto& print) {
        lines.add(name, value > 0 ? print(value) : "");
    };
    add("input tokens", model.tokens, [](double value) { return si(value); });
    add("FLOPs", model.flops, [](double value) { return si(value); });
    add("train wall time", model.hours, [](double value) { return short_seconds(value * 3600); });
    add("cost", model.usd, [](double value) { return dollars(value); });
    lines.add("source", model.source);
}

}  // namespace

std::string render_trial(const Trial& trial, const std::vector<journal::ExpertLoad>& experts) {
    NamedLines lines;
    lines.section("Trial");
    lines.add("name", results_db::trial_name(trial));
    lines.add("label", trial.label);
    lines.add("configuration hash", trial.config_hash);
    lines.add("row hash", trial.variant_hash);
    lines.add(trial.imported ? "imported" : "starts from", start_text(trial));
    if (trial.imported) lines.add("model sha256", trial.imported->sha256);
    lines.add("state", state_text(trial));
    lines.add("attempts", fmt::format("{}", trial.attempts));
    lines.add("run folder", trial.is_merged() ? "none: merged from another root" : trial.workdir);
    if (trial.started_ms > 0) lines.add("started", date_and_time(trial.started_ms));
    if (trial.ended_ms > 0) lines.add("ended", date_and_time(trial.ended_ms));
    add_counts(lines, trial);
    if (!experts.empty()) {
        lines.section("Experts");
        for (const auto& [name, value] : routing_lines(experts)) lines.add(name, value);
    }
    add_scores(lines, trial);
    add_scoring(lines, trial);
    if (trial.imported && states_anything(*trial.imported)) add_stated(lines, *trial.imported);
    lines.section("Cost");
    lines.add("training", trial.imported ? "" : seconds(trial.train_seconds));
    lines.add("evaluation", seconds(trial.eval_seconds));
    lines.add("device time", trial.imported ? "" : seconds(trial.device_seconds));
    lines.add("peak memory", trial.peak_rss_bytes > 0 ? si(static_cast<double>(trial.peak_rss_bytes), "B") : "");
    lines.add("cost", cost_text(trial));
    if (trial.parts.whole() > 0) lines.add("all attempts", parts_text(trial.parts));
    if (trial.usd_parts) lines.add("all attempts, USD", usd_texts(*trial.usd_parts).whole);
    add_attempts(lines, trial);
    add_provenance(lines, trial);
    if (const std::string error = error_text(trial); !error.empty()) {
        lines.section("Error");
        lines.add_lines(error);
    }
    lines.section("Configuration");
    const Json& config = *trial.settings.json;
    lines.add_lines(config.is_discarded() ? trial.config_json
                                          : config.dump(2, ' ', false, Json::error_handler_t::replace));
    return lines.take();
}

}  // namespace deft::reporting
