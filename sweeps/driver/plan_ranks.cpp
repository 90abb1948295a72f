#include "sweeps/driver/plan_ranks.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "reporting/numbers.h"

namespace deft::sweeps {

namespace {

using experiments::CommunicationPlan;

CommunicationPlan plan_row(const Spec& spec, const Trial& trial, int ranks, int expert_ranks) {
    try {
        return experiments::plan_communication(trial.config, planned_device(spec, trial.config), ranks, expert_ranks);
    } catch (const Error& error) {
        throw Error(error.kind(), fmt::format("recipe {}: {}", trial.recipe, error.what()));
    }
}

// One device a rank, however many the sweep counts hours for.
std::optional<double> compute_seconds(const Plan& plan, const PlanRow& row, int ranks) {
    if (!plan.device) return {};
    experiments::DeviceUse use = *plan.device;
    use.devices = ranks;
    const std::optional<double> hours = experiments::training_hours(use, row.trial.projection.step_flops);
    if (!hours) return {};
    return *hours * 3600;
}

std::vector<double> link_seconds(const Plan& plan, std::int64_t bytes) {
    std::vector<double> seconds;
    if (!plan.device) return seconds;
    for (const experiments::DeviceLink& link : plan.device->device.links)
        seconds.push_back(static_cast<double>(bytes) / link.bytes_per_second);
    return seconds;
}

std::string expert_note(int expert_ranks) {
    return fmt::format(
        "Experts: each of {0} neighbouring ranks holds 1/{0} of those of every layer. Rows to experts and back"
        " are an assumption: the gate gives every expert as many rows, so that {1}/{0} of the choices leave a"
        " rank, forward and backward, of an average step, and as many come. Activations have room for what "
        "capacity_factor"
        " lets through, without one for all rows at one rank.",
        expert_ranks, expert_ranks - 1);
}

std::string link_note(const Plan& plan) {
    if (!plan.device) return "No seconds: the sweep names no device in [resources].";
    const experiments::Device& device = plan.device->device;
    if (device.links.empty())
        return fmt::format("No seconds: {} states no link in experiments/hardware.toml.", device.name);
    std::string note =
        "Seconds: bytes over the rate of a device's link in one direction, alone on it and without latency;";
    for (const experiments::DeviceLink& link : device.links)
        note += fmt::format(" {}: {} ({});", link.name, reporting::si(link.bytes_per_second, "B/s"), link.source);
    note += " a network between machines is not among them.";
    return note;
}

std::string rank_memory_note(const RanksPlan& ranks, const Plan& plan) {
    std::string note =
        "Memory: every buffer of the last rank, whose shares are the largest, as the engine plans them for "
        "micro-batches of"
        " train.micro_batch_size. With train.zero = 1 a rank has the moments of its share alone.";
    if (!plan.device || plan.device->device.memory_bytes == 0) return note;
    const experiments::Device& device = plan.device->device;
    const auto holds = [&](std::size_t zero) {
        return std::all_of(ranks.rows.begin(), ranks.rows.end(),
                           [&](const RanksRow& row) { return row.plan.memory[zero].all <= device.memory_bytes; });
    };
    return note + fmt::format(" {:g} GB of {} {}.", static_cast<double>(device.memory_bytes) / 1e9, device.name,
                              holds(0)   ? "hold all of these"
                              : holds(1) ? "hold all of these with train.zero = 1 alone"
                                         : "do not hold all of these");
}

void add_notes(RanksPlan& ranks, const Plan& plan) {
    ranks.notes.push_back(rank_memory_note(ranks, plan));
    ranks.notes.push_back(
        "Bytes: what leaves that rank in a step. Gathered are gradients, with train.zero = 1 weights; sums are of "
        "gradient"
        " norm, losses and loads.");
    if (ranks.expert_ranks > 1) ranks.notes.push_back(expert_note(ranks.expert_ranks));
    ranks.notes.push_back(link_note(plan));
    if (plan.device && plan.device->peak_flops() > 0)
        ranks.notes.push_back(fmt::format("Compute: FLOPs of an average step / ({} ranks x {} x {:g}), one {} a rank.",
                                          ranks.ranks, reporting::si(plan.device->peak_flops(), "FLOP/s"),
                                          plan.device->utilisation, plan.device->device.name));
}

Json memory_json(const experiments::RankMemory& memory) {
    return {{"weights", memory.weights},     {"expert_weights", memory.expert_weights},
            {"gradients", memory.gradients}, {"expert_gradients", memory.expert_gradients},
            {"moments", memory.moments},     {"activations", memory.activations},
            {"workspace", memory.workspace}, {"all", memory.all}};
}

Json traffic_json(const experiments::RankTraffic& traffic) {
    return {{"gradients_reduced", traffic.gradients_reduced},
            {"gathered", traffic.gathered},
            {"rows_to_experts", traffic.rows_to_experts},
            {"rows_back", traffic.rows_back},
            {"sums", traffic.sums},
            {"all", traffic.all()}};
}

Json row_json(const RanksRow& row, const Trial& trial) {
    return {{"stage", trial.stage},
            {"case", trial.recipe},
            {"axes", trial.axes},
            {"variant_hash", trial.variant_hash},
            {"expert_ranks", row.plan.expert_ranks},
            {"rows", row.plan.rows},
            {"rows_at_once", row.plan.at_once},
            {"memory", {{"zero_0", memory_json(row.plan.memory[0])}, {"zero_1", memory_json(row.plan.memory[1])}}},
            {"bytes_sent", traffic_json(row.plan.traffic)},
            {"compute_seconds", row.compute_seconds ? Json(*row.compute_seconds) : Json()},
            {"link_seconds", row.link_seconds}};
}

}  // namespace

RanksPlan plan_ranks(const Spec& spec, const Plan& plan, int ranks, int expert_ranks) {
    RanksPlan planned{ranks, 1, {}, {}};
    bool any_experts = expert_ranks <= 1;
    for (std::size_t i = 0; i < plan.rows.size(); ++i) {
        const PlanRow& row = plan.rows[i];
        if (experiments::is_imported(row.trial.config)) continue;
        const bool has_experts = experiments::has_experts(row.trial.config);
        any_experts = any_experts || has_experts;
        const int asked = has_experts ? expert_ranks : 1;
        const int divisor = expert_ranks == 0 ? static_cast<int>(row.trial.config.train.expert_ranks) : asked;
        planned.expert_ranks = std::max(planned.expert_ranks, divisor);
        RanksRow of_rank{i, plan_row(spec, row.trial, ranks, divisor), {}, {}};
        of_rank.compute_seconds = compute_seconds(plan, row, ranks);
        of_rank.link_seconds = link_seconds(plan, of_rank.plan.traffic.all());
        planned.rows.push_back(std::move(of_rank));
    }
    if (!any_experts)
        throw Error(ErrorKind::config,
                    fmt::format("{} expert ranks divide experts, and no recipe has any", expert_ranks),
                    "leave --expert-ranks out, or set model.experts", "nothing was planned");
    if (spec.ranks_per_node > 0 && ranks > spec.ranks_per_node && ranks % spec.ranks_per_node == 0)
        planned.notes.push_back(fmt::format("Nodes: a trial takes {}, with {} of its ranks on each.",
                                            ranks / spec.ranks_per_node, spec.ranks_per_node));
    add_notes(planned, plan);
    return planned;
}

Json to_json(const RanksPlan& ranks, const Plan& plan) {
    Json json = {{"ranks", ranks.ranks},
                 {"expert_ranks", ranks.expert_ranks},
                 {"links", Json::array()},
                 {"rows", Json::array()},
                 {"notes", ranks.notes}};
    if (plan.device)
        for (const experiments::DeviceLink& link : plan.device->device.links)
            json["links"].push_back(
                {{"name", link.name}, {"bytes_per_second", link.bytes_per_second}, {"source", link.source}});
    for (const RanksRow& row : ranks.rows) json["rows"].push_back(row_json(row, plan.rows[row.row].trial));
    return json;
}

}  // namespace deft::sweeps
