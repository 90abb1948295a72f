#include "sweeps/cli/tune_report.h"

#include <fmt/format.h>

#include <cmath>

#include "base/json.h"
#include "base/text.h"
#include "base/write_toml.h"
#include "experiments/projection.h"
#include "reporting/numbers.h"
#include "reporting/text.h"

namespace deft::cli {

namespace {

using experiments::Projection;
using experiments::Tunable;
using experiments::TunedProbe;
using experiments::Tuning;
using reporting::Align;

std::string verdict_of(const TunedProbe& tried) {
    if (!tried.refused.empty()) return "rejected";
    if (tried.probe.stopped) return "stopped";
    const auto& fluctuation = tried.probe.fluctuation;
    if (!fluctuation) return "steady";
    const double at = tried.probe.curve[fluctuation->point].warmups;
    if (std::isinf(fluctuation->excess)) return fmt::format("not finite at {:.1f}", at);
    return fmt::format("+{:.1f}% at {:.1f}", 100 * fluctuation->excess, at);
}

std::string duration_text(const Tunable& tunable) {
    return tunable.steps > 0 ? fmt::format("{} steps", tunable.steps) : fmt::format("{:g}", tunable.duration);
}

struct ProbeCost {
    std::int64_t trained = 0, evaluated = 0;
    double flops = 0, seconds = 0;
};

ProbeCost cost_of(const Tuning& tuning) {
    ProbeCost cost;
    for (const TunedProbe& tried : tuning.probes) {
        cost.trained += tried.probe.input_tokens;
        cost.evaluated += tried.probe.evaluated_tokens;
        cost.flops += tried.probe.flops;
        cost.seconds += tried.probe.seconds;
    }
    return cost;
}

std::string share_text(double part, double whole) {
    return fmt::format("{:+.1f}%", 100 * (part / whole - 1));
}

std::string probes_note(const Tuning& tuning, const ProbeCost& cost, const std::optional<double>& dollars_an_hour) {
    std::string note = fmt::format("Probes: {}, with {} training tokens and {} evaluation tokens, {}, {}",
                                   tuning.probes.size(), reporting::si(static_cast<double>(cost.trained)),
                                   reporting::si(static_cast<double>(cost.evaluated)),
                                   reporting::si(cost.flops, "FLOP"), reporting::seconds(cost.seconds));
    if (dollars_an_hour) note += ", " + reporting::dollars(cost.seconds / 3600 * *dollars_an_hour);
    return note + ".";
}

// The number of trials whose savings equal the cost of the probes.
std::string saving_note(const char* against, double flops, double tuned, double probes) {
    const double saving = flops - tuned;
    if (saving <= 0)
        return fmt::format("Compared with {}, a tuned trial takes {} more, so the probes save nothing.", against,
                           reporting::si(-saving, "FLOP"));
    return fmt::format("Compared with {}, a tuned trial saves {}. This covers the probes after {:.0f} trials.", against,
                       reporting::si(saving, "FLOP"), std::ceil(probes / saving));
}

void set_real(ConfigNode& tree, const std::string& path, double value) {
    set_at_path(tree, path, from_json(value, tree.place));
}

void set_integer(ConfigNode& tree, const std::string& path, std::int64_t value) {
    set_at_path(tree, path, from_json(value, tree.place));
}

}  // namespace

reporting::Table probe_table(const Tuning& tuning) {
    reporting::Table table;
    table.columns = {{"probe", Align::left},
                     {"tried", Align::left},
                     {"validation\nloss", Align::left},
                     {"loss at\nthe end"},
                     {"steps"},
                     {"input\ntokens"},
                     {"FLOPs"},
                     {"seconds"}};
    table.key_columns = 2;
    for (const TunedProbe& tried : tuning.probes) {
        const experiments::Probe& probe = tried.probe;
        table.rows.push_back({tried.purpose, tried.setting, verdict_of(tried),
                              probe.curve.empty() ? "-" : reporting::score(probe.last_loss()),
                              std::to_string(probe.steps), reporting::si(static_cast<double>(probe.input_tokens)),
                              reporting::si(probe.flops), fmt::format("{:.2f}", probe.seconds)});
    }
    for (const TunedProbe& tried : tuning.probes)
        if (!tried.refused.empty())
            table.notes.push_back(
                fmt::format("{} was rejected: {}", tried.setting, reporting::visible(in_one_line(tried.refused))));
    return table;
}

reporting::Table found_table(const Tuning& tuning) {
    reporting::Table table;
    table.columns = {{"technique", Align::left}, {"min"}, {"min\nfound"}, {"duration"}, {"duration\nfound"}};
    for (const experiments::Tuned& tuned : tuning.tuned) {
        const bool start = tuned.start.best && tuned.best.min < tuned.own.max;
        table.rows.push_back({tuned.own.path, std::to_string(tuned.own.min),
                              start ? std::to_string(tuned.best.min) : "-", duration_text(tuned.own),
                              tuned.duration.best || tuned.found ? duration_text(tuned.best) : "-"});
    }
    const auto add_rates = [&](const char* whose, const std::optional<experiments::RatesTried>& tried) {
        if (!tried) return;
        std::string text = fmt::format("{}: learning rates", whose);
        for (std::size_t i = 0; i < tried->rates.size(); ++i)
            text += fmt::format("{} {:g} ({})", i == 0 ? "" : ",", tried->rates[i],
                                std::isfinite(tried->losses[i]) ? reporting::score(tried->losses[i]) : "fluctuates");
        table.notes.push_back(text + (tried->best ? fmt::format("; best {:g}.", *tried->best) : "."));
    };
    add_rates("Baseline", tuning.baseline_rates);
    add_rates("Technique", tuning.technique_rates);
    table.notes.insert(table.notes.end(), tuning.notes.begin(), tuning.notes.end());
    return table;
}

reporting::Table cost_table(const experiments::TrialConfig& own, const Tuning& tuning,
                            const std::optional<double>& dollars_an_hour) {
    const Projection baseline = experiments::project(experiments::without_techniques(own));
    const Projection written = experiments::project(own), tuned = experiments::project(tuning.config);
    const ProbeCost cost = cost_of(tuning);
    const double flops_a_second = cost.flops / cost.seconds;

    reporting::Table table;
    table.caption = "Projected cost of one trial";
    table.columns = {{"trial", Align::left}, {"steps"}, {"input\ntokens"}, {"FLOPs"}, {"FLOPs against\nthe baseline"},
                     {"time\n(estimated)"}};
    if (dollars_an_hour) table.columns.push_back({"cost\n(estimated)"});
    const auto add = [&](const char* name, const Projection& projection) {
        const double seconds = projection.flops / flops_a_second;
        table.rows.push_back({name, std::to_string(projection.steps),
                              reporting::si(static_cast<double>(projection.input_tokens)),
                              reporting::si(projection.flops), share_text(projection.flops, baseline.flops),
                              reporting::short_seconds(seconds)});
        if (dollars_an_hour) table.rows.back().push_back(reporting::dollars(seconds / 3600 * *dollars_an_hour));
    };
    add("baseline", baseline);
    add("as written", written);
    add("as tuned", tuned);

    table.notes = {probes_note(tuning, cost, dollars_an_hour),
                   saving_note("the baseline", baseline.flops, tuned.flops, cost.flops),
                   saving_note("the recipe as written", written.flops, tuned.flops, cost.flops),
                   fmt::format("All three have the same budget of consumed tokens (layer-averaged). Times are "
                               "estimated at the probes' {}.",
                               reporting::si(flops_a_second, "FLOP/s"))};
    return table;
}

std::string tuned_recipe_toml(const sweeps::Recipe& entry, const Tuning& tuning) {
    const ConfigNode* overlay = entry.overlay("");
    ConfigNode tree = overlay == nullptr ? ConfigNode{} : *overlay;
    for (const experiments::Tuned& tuned : tuning.tuned) {
        const std::string& path = tuned.best.path;
        set_integer(tree, path + ".min", tuned.best.min);
        if (tuned.best.steps > 0)
            set_integer(tree, path + ".steps", tuned.best.steps);
        else
            set_real(tree, path + ".duration", tuned.best.duration);
    }
    if (tuning.technique_rates) set_real(tree, "train.learning_rate", tuning.config.train.learning_rate);
    const std::string suffix = "-tuned";
    const std::string name = entry.name.ends_with(suffix) ? entry.name : entry.name + suffix;
    ConfigNode top = tree;
    top.children.clear();
    top.set("name", from_json(name, tree.place));
    if (entry.label != entry.name) top.set("label", from_json(entry.label, tree.place));
    for (const auto& [key, value] : tree.children)
        if (value.kind != ConfigNode::Kind::table) top.set(key, value);
    std::erase_if(tree.children, [](const auto& child) { return child.second.kind != ConfigNode::Kind::table; });
    std::string text = "[[case]]\n" + to_toml(top, "");
    for (const auto& [key, table] : tree.children) text += to_toml(table, "case." + key);
    return text;
}

}  // namespace deft::cli
