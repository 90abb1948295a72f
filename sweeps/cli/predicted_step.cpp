#include "sweeps/cli/predicted_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "reporting/numbers.h"

namespace deft::cli {

namespace {

using engine::CardModel;
using engine::DType;
using reporting::Align;

constexpr const char* kLabel = "predicted by a model of the card, not measured";

std::string tokens_per_second(const PredictedTrial& trial, double seconds) {
    return reporting::si(trial.tokens / seconds, "") + " tokens/s";
}

// Indices of ops, by phase, the longest first.
std::vector<std::size_t> by_phase_and_time(const engine::StepProfile& profile, const std::vector<double>& seconds) {
    std::vector<std::size_t> order(profile.ops.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
        const engine::Phase first = profile.ops[a].phase, second = profile.ops[b].phase;
        return first != second ? first < second : seconds[a] > seconds[b];
    });
    return order;
}

}  // namespace

std::vector<std::string> prediction_notes(const CardModel& card, DType dtype) {
    const auto rate = [&](const char* what, const engine::SourcedRate& sourced, const char* unit) {
        return fmt::format("{} {}: {} ({})", card.name, what, reporting::si(sourced.value, unit), sourced.source);
    };
    std::vector<std::string> notes = {
        "No predicted time is measured: each is the longest of FLOPs, bytes and a launch at the card's rates, FLOPs "
        "and "
        "bytes divided by the share that the op's kind is expected to reach.",
        rate("products in bf16", card.tensor_flops, "FLOP/s") + ".", rate("FFMA", card.ffma_flops, "FLOP/s") + ".",
        rate("copy", card.copy_bytes, "B/s") + ".",
        fmt::format("{} launch: {} ({}).", card.name, reporting::small_seconds(card.launch_seconds.value),
                    card.launch_seconds.source)};
    if (dtype != DType::bf16) {
        notes.push_back("f32: no share is stated for it; predicted times are the roofline alone.");
        return notes;
    }
    std::string shares;
    for (const engine::OpKind& kind : engine::op_kinds())
        shares += fmt::format("{}{} {:.0f}%", shares.empty() ? "" : ", ", kind.name, 100 * kind.efficiency());
    notes.push_back(fmt::format("Shares: {} ({}).", shares, engine::op_kinds().front().source));
    return notes;
}

Json prediction_sources(const CardModel& card, DType dtype) {
    const auto rate = [](const engine::SourcedRate& sourced) {
        return Json{{"value", sourced.value}, {"source", sourced.source}};
    };
    Json json = {{"label", kLabel},
                 {"card", card.name},
                 {"rates",
                  {{"tensor_flops", rate(card.tensor_flops)},
                   {"ffma_flops", rate(card.ffma_flops)},
                   {"copy_bytes", rate(card.copy_bytes)},
                   {"launch_seconds", rate(card.launch_seconds)}}},
                 {"efficiencies", Json::object()}};
    if (dtype == DType::bf16)
        for (const engine::OpKind& kind : engine::op_kinds())
            json["efficiencies"][kind.name] = {{"value", kind.efficiency()}, {"source", kind.source}};
    return json;
}

reporting::Table predicted_table(const PredictedTrial& trial, const CardModel& card) {
    const engine::PredictedStep step = engine::predict_step(trial.profile, card, trial.dtype);
    reporting::Table table;
    table.caption =
        fmt::format("Predicted, not measured: training step {} of {} in {} on {}: {}", trial.profile.step, trial.name,
                    engine::dtype_name(trial.dtype), card.name, reporting::small_seconds(step.seconds));
    table.columns = {{"phase", Align::left}, {"op", Align::left}, {"first output", Align::left}, {"calls"},
                     {"predicted"},          {"of step"},         {"kind", Align::left}};
    for (const std::size_t i : by_phase_and_time(trial.profile, step.ops)) {
        const engine::ProfiledOp& op = trial.profile.ops[i];
        table.rows.push_back({engine::phase_name(op.phase), op.op, op.shape, std::to_string(op.calls),
                              reporting::small_seconds(step.ops[i]),
                              fmt::format("{:.1f}%", 100 * step.ops[i] / step.seconds),
                              engine::kind_of_op(op.op).name});
    }
    if (trial.tokens > 0)
        table.notes.push_back(
            fmt::format("Predicted: {}; model FLOPs at {}, {:.1f}% of the data sheet's {} in bf16.",
                        tokens_per_second(trial, step.seconds), reporting::si(trial.flops / step.seconds, "FLOP/s"),
                        100 * trial.flops / step.seconds / card.peak_flops, reporting::si(card.peak_flops, "FLOP/s")));
    for (std::string& note : prediction_notes(card, trial.dtype)) table.notes.push_back(std::move(note));
    return table;
}

Json predicted_json(const PredictedTrial& trial, const CardModel& card) {
    const engine::PredictedStep step = engine::predict_step(trial.profile, card, trial.dtype);
    Json json = {{"schema", "deft-predicted-step/1"},
                 {"what", trial.name},
                 {"dtype", engine::dtype_name(trial.dtype)},
                 {"step", trial.profile.step},
                 {"predicted_seconds", step.seconds},
                 {"predicted_tokens_per_second", trial.tokens > 0 ? Json(trial.tokens / step.seconds) : Json()},
                 {"prediction", prediction_sources(card, trial.dtype)},
                 {"ops", Json::array()}};
    for (const std::size_t i : by_phase_and_time(trial.profile, step.ops)) {
        const engine::ProfiledOp& op = trial.profile.ops[i];
        json["ops"].push_back({{"phase", engine::phase_name(op.phase)},
                               {"op", op.op},
                               {"first_output", op.shape},
                               {"calls", op.calls},
                               {"predicted_seconds", step.ops[i]},
                               {"flops", op.flops},
                               {"bytes", op.bytes}});
    }
    return json;
}

}  // namespace deft::cli
