#include "sweeps/cli/plan_ranks_tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "reporting/numbers.h"

namespace deft::cli {

namespace {

using reporting::Align;
using reporting::Cell;

std::string memory(std::int64_t bytes) {
    return reporting::binary_bytes(static_cast<double>(bytes));
}

std::string sent(std::int64_t bytes) {
    return reporting::si(static_cast<double>(bytes), "B");
}

std::string or_dash(bool has, const std::string& text) {
    return has ? text : "-";
}

bool any_experts(const sweeps::RanksPlan& ranks) {
    return std::any_of(ranks.rows.begin(), ranks.rows.end(),
                       [](const sweeps::RanksRow& row) { return row.plan.memory[0].expert_weights > 0; });
}

// Seeds differ in nothing that is planned.
std::string trial_name(const sweeps::Plan& plan, const sweeps::RanksRow& row) {
    const std::string name = plan.rows[row.row].trial.name();
    return name.substr(0, name.rfind('/'));
}

std::string ranks_text(const sweeps::RanksPlan& ranks) {
    if (ranks.expert_ranks == 1) return fmt::format("{} ranks", ranks.ranks);
    return fmt::format("{} ranks, experts divided among {}", ranks.ranks, ranks.expert_ranks);
}

// Seconds at each link, and their share of the compute time.
void add_seconds(reporting::Table& table, const sweeps::RanksPlan& ranks, const sweeps::Plan& plan) {
    if (!plan.device) return;
    const auto& links = plan.device->device.links;
    const bool has_compute = std::any_of(ranks.rows.begin(), ranks.rows.end(),
                                         [](const sweeps::RanksRow& row) { return row.compute_seconds.has_value(); });
    for (std::size_t link = 0; link < links.size(); ++link) {
        table.columns.push_back({"at\n" + links[link].name});
        if (has_compute) table.columns.push_back({"of\ncompute"});
        for (std::size_t i = 0; i < ranks.rows.size(); ++i) {
            const sweeps::RanksRow& row = ranks.rows[i];
            table.rows[i].push_back(reporting::small_seconds(row.link_seconds[link]));
            if (has_compute)
                table.rows[i].push_back(fmt::format("{:.1f}%", 100 * row.link_seconds[link] / *row.compute_seconds));
        }
    }
    if (!has_compute) return;
    table.columns.push_back({"compute\na step"});
    for (std::size_t i = 0; i < ranks.rows.size(); ++i)
        table.rows[i].push_back(reporting::small_seconds(*ranks.rows[i].compute_seconds));
}

}  // namespace

reporting::Table rank_memory_table(const sweeps::RanksPlan& ranks, const sweeps::Plan& plan) {
    const bool experts = any_experts(ranks);
    reporting::Table table;
    table.caption = fmt::format("Memory of one of {}", ranks_text(ranks));
    table.columns = {{"trial", Align::left}, {"rows\na step"}, {"at\nonce"}, {"weights"}};
    if (experts) table.columns.push_back({"of\nexperts"});
    table.columns.push_back({"gradients"});
    if (experts) table.columns.push_back({"of\nexperts"});
    for (const char* name : {"moments\n(zero = 0)", "moments\n(zero = 1)", "activations", "workspace",
                             "in all\n(zero = 0)", "in all\n(zero = 1)"})
        table.columns.push_back({name});
    for (const sweeps::RanksRow& row : ranks.rows) {
        const experiments::RankMemory &plain = row.plan.memory[0], &zero = row.plan.memory[1];
        std::vector<Cell> cells = {trial_name(plan, row), std::to_string(row.plan.rows),
                                   std::to_string(row.plan.at_once), memory(plain.weights)};
        const bool has_experts = plain.expert_weights > 0;
        if (experts) cells.push_back(or_dash(has_experts, memory(plain.expert_weights)));
        cells.push_back(memory(plain.gradients));
        if (experts) cells.push_back(or_dash(has_experts, memory(plain.expert_gradients)));
        for (const std::int64_t bytes :
             {plain.moments, zero.moments, plain.activations, plain.workspace, plain.all, zero.all})
            cells.push_back(memory(bytes));
        table.rows.push_back(std::move(cells));
    }
    return table;
}

reporting::Table rank_traffic_table(const sweeps::RanksPlan& ranks, const sweeps::Plan& plan) {
    const bool divides = ranks.expert_ranks > 1;
    reporting::Table table;
    table.caption = fmt::format("What leaves one of {} in a step", ranks_text(ranks));
    table.columns = {{"trial", Align::left}, {"gradients\nreduced"}, {"gathered"}};
    if (divides) table.columns.insert(table.columns.end(), {{"rows to\nexperts"}, {"rows\nback"}});
    table.columns.insert(table.columns.end(), {{"sums"}, {"in all"}});
    for (const sweeps::RanksRow& row : ranks.rows) {
        const experiments::RankTraffic& traffic = row.plan.traffic;
        std::vector<Cell> cells = {trial_name(plan, row), sent(traffic.gradients_reduced), sent(traffic.gathered)};
        if (divides) {
            cells.push_back(or_dash(row.plan.expert_ranks > 1, sent(traffic.rows_to_experts)));
            cells.push_back(or_dash(row.plan.expert_ranks > 1, sent(traffic.rows_back)));
        }
        cells.insert(cells.end(), {sent(traffic.sums), sent(traffic.all())});
        table.rows.push_back(std::move(cells));
    }
    add_seconds(table, ranks, plan);
    table.notes = ranks.notes;
    return table;
}

}  // namespace deft::cli
