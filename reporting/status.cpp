#include "reporting/status.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/first_line.h"
#include "base/json.h"
#include "reporting/numbers.h"
#include "reporting/text.h"
#include "results_db/trial_name.h"

namespace deft::reporting {

namespace {

std::string or_dash(const std::string& text) {
    return text.empty() ? "-" : printable(text);
}

std::string error_text(const results_db::TrialRow& trial) {
    if (trial.error.empty()) return trial.fail_class;
    return trial.fail_class.empty() ? trial.error : trial.fail_class + ": " + trial.error;
}

// Sections of names and values, the values of a section below each other.
class Lines {
 public:
    void section(const char* title) {
        close();
        text_ += fmt::format("{}{}\n", text_.empty() ? "" : "\n", title);
    }
    void add(const std::string& name, const std::string& value) {
        entries_.emplace_back(printable(name), or_dash(value));
        width_ = std::max(width_, display_width(entries_.back().first));
    }
    void add_lines(const std::string& value) {
        for (std::size_t at = 0; at < value.size();) {
            const std::size_t end = std::min(value.find('\n', at), value.size());
            text_ += "  " + printable(std::string_view(value).substr(at, end - at)) + "\n";
            at = end + 1;
        }
    }
    std::string take() {
        close();
        return std::move(text_);
    }

 private:
    static constexpr int kLeastWidth = 22;

    void close() {
        for (const auto& [name, value] : entries_)
            text_ += fmt::format("  {}{}  {}\n", name,
                                 std::string(static_cast<std::size_t>(width_ - display_width(name)), ' '), value);
        entries_.clear();
        width_ = kLeastWidth;
    }

    std::string text_;
    std::vector<std::pair<std::string, std::string>> entries_;
    int width_ = kLeastWidth;
};

void add_counts(Lines& lines, const results_db::TrialRow& trial) {
    lines.section("Counts");
    if (trial.parameters > 0) lines.add("parameters", si(static_cast<double>(trial.parameters)));
    if (!trial.last_point) {
        lines.add("steps", "none yet");
        return;
    }
    const journal::TrainPoint& point = *trial.last_point;
    lines.add("steps", trial.total_steps > 0 ? fmt::format("{} of {}", point.step, trial.total_steps)
                                             : fmt::format("{}", point.step));
    lines.add("input tokens", fmt::format("{}", point.input_tokens));
    lines.add("unique corpus tokens", fmt::format("{}", point.unique_tokens));
    lines.add("layer-averaged tokens", fmt::format("{}", point.layer_tokens));
    lines.add("FLOPs", si(point.flops));
    lines.add("train wall time", seconds(static_cast<double>(point.wall_ms) / 1000));
    lines.add("last loss", score(point.loss));
    lines.add("last learning rate", fmt::format("{:.3g}", point.lr));
    lines.add("last gradient norm", score(point.grad_norm));
}

void add_scores(Lines& lines, const results_db::TrialRow& trial) {
    lines.section("Scores");
    if (trial.scores.empty()) lines.add("scores", "none yet");
    for (const results_db::ScoreRow& row : trial.scores) {
        std::string text = score(row.value);
        if (!row.unit.empty()) text += " " + row.unit;
        text += fmt::format(" (n = {}", row.n);
        if (!std::isnan(row.standard_error)) text += ", standard error " + score(row.standard_error);
        if (!std::isnan(row.chance)) text += ", chance " + score(row.chance);
        if (row.shots > 0) text += fmt::format(", {} shots", row.shots);
        if (!row.split.empty()) text += ", split " + row.split;
        text += fmt::format(", step {})", row.step);
        lines.add(row.task + " " + row.metric, text);
    }
}

void add_provenance(Lines& lines, const results_db::TrialRow& trial) {
    lines.section("Provenance");
    const results_db::Code& code = trial.code;
    lines.add("commit", code.git_sha + (code.git_branch.empty() ? "" : " (" + code.git_branch + ")"));
    lines.add("uncommitted changes", code.dirty ? "yes, diff " + code.diff_sha256 : "no");
    lines.add("program", code.binary_sha256);
    lines.add("compiler", code.compiler);
    lines.add("flags", code.cxx_flags);
    lines.add("build type", code.build_type);
    const results_db::Host& host = trial.host;
    lines.add("host", host.hostname);
    lines.add("cpu", fmt::format("{}, {} cores, {} threads", host.cpu_model, host.cores, host.threads));
    lines.add("memory", si(static_cast<double>(host.mem_bytes), "B"));
    lines.add("system", host.os + (host.kernel.empty() ? "" : ", " + host.kernel));
    lines.add("dataset", trial.dataset_name);
    lines.add("dataset hash", trial.dataset_sha256);
}

}  // namespace

Table status_table(const results_db::SweepResults& sweep) {
    Table table;
    table.caption = "Sweep " + sweep.name;
    table.key_columns = 2;
    table.columns = {{"hash", Align::left}, {"trial", Align::left}, {"state", Align::left}, {"attempts"}, {"step"},
                     {"last\nloss"},        {"layer-avg\ntokens"},  {"error", Align::left}};
    std::map<std::string, int> states;
    for (const results_db::TrialRow& trial : sweep.trials) {
        ++states[trial.state];
        std::string step = "-", loss = "-", tokens = "-";
        if (trial.last_point) {
            step = trial.total_steps > 0 ? fmt::format("{}/{}", trial.last_point->step, trial.total_steps)
                                         : fmt::format("{}", trial.last_point->step);
            loss = score(trial.last_point->loss);
            tokens = si(static_cast<double>(trial.last_point->layer_tokens));
        }
        table.rows.push_back({trial.config_hash.substr(0, 8), results_db::trial_name(trial), trial.state,
                              fmt::format("{}", trial.attempts), step, loss, tokens,
                              printable(first_line(error_text(trial)))});
    }
    std::string counts = fmt::format("{} trials", sweep.trials.size());
    for (const auto& [state, count] : states) counts += fmt::format(", {} {}", count, state);
    table.notes.push_back(counts);
    return table;
}

std::string render_trial(const results_db::TrialRow& trial) {
    Lines lines;
    lines.section("Trial");
    lines.add("name", results_db::trial_name(trial));
    lines.add("label", trial.label);
    lines.add("configuration hash", trial.config_hash);
    lines.add("variant hash", trial.variant_hash);
    lines.add("state", trial.state);
    lines.add("attempts", fmt::format("{}", trial.attempts));
    lines.add("run folder", trial.workdir);
    add_counts(lines, trial);
    add_scores(lines, trial);
    lines.section("Cost");
    lines.add("training", seconds(trial.train_seconds));
    lines.add("evaluation", seconds(trial.eval_seconds));
    lines.add("device time", seconds(trial.device_seconds));
    lines.add("peak memory", trial.peak_rss_bytes > 0 ? si(static_cast<double>(trial.peak_rss_bytes), "B") : "");
    lines.add("cost", trial.usd ? dollars(*trial.usd) : "no price");
    if (trial.usd)
        lines.add("price", fmt::format("${:g} an hour of {}, from {}, {}", trial.usd_per_hour, trial.price_sku,
                                       date(trial.price_valid_from_ms), trial.price_source));
    add_provenance(lines, trial);
    if (const std::string error = error_text(trial); !error.empty()) {
        lines.section("Error");
        lines.add_lines(error);
    }
    lines.section("Configuration");
    const Json config = Json::parse(trial.config_json, nullptr, false);
    lines.add_lines(config.is_discarded() ? trial.config_json
                                          : config.dump(2, ' ', false, Json::error_handler_t::replace));
    return lines.take();
}

}  // namespace deft::reporting
