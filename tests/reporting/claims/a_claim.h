#pragma once
// Claims on a table of two recipes at two budgets, and sweeps whose truth is known.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reporting/analysis/claims/claims_check.h"
#include "tests/reporting/a_sweep.h"

namespace deft::reporting {

// A claim on the validation loss, where lower is better.
inline Claim a_claim(ClaimKind kind, ClaimedRow of, std::optional<ClaimedRow> against, double margin_or_amount) {
    Claim claim;
    claim.id = to_text(kind);
    claim.statement = "One is as the other";
    claim.kind = kind;
    claim.of = std::move(of);
    claim.against = std::move(against);
    claim.proxy.quantity = parse_quantity("task:validation loss", {});
    claim.proxy.unit = "nats/token";
    claim.proxy.better = "lower";
    claim.proxy.margin = margin_or_amount;
    claim.amount = margin_or_amount;
    claim.paper.not_judged = "too dear";
    return claim;
}

inline const ClaimedRow kBase{"base", 1}, kBaseHalf{"base", 0.5}, kTech{"tech", 1}, kTechHalf{"tech", 0.5};

inline PublishedTable table_of(std::vector<Claim> claims) {
    PublishedTable table;
    table.name = "a_table";
    for (const ClaimedRow& row : {kBase, kBaseHalf, kTech, kTechHalf}) {
        PublishedRow printed;
        printed.recipe = row.recipe;
        printed.budget_fraction = row.budget_fraction;
        table.rows.push_back(printed);
    }
    table.claims = std::move(claims);
    return table;
}

struct ClaimedLosses {
    ClaimedRow row;
    std::vector<double> losses;
    std::int64_t wall_ms = 1000;
};

inline Results sweep_with(const std::vector<ClaimedLosses>& rows) {
    std::vector<Trial> trials;
    for (const ClaimedLosses& row : rows) {
        std::int64_t seed = 0;
        for (const double loss : row.losses) {
            ++seed;
            trials.push_back(a_finished_trial(row.row.recipe.c_str(),
                                              row.row.budget_fraction == 1 ? kFullBudget : kHalfBudget, seed, loss,
                                              row.wall_ms + seed));
            trials.back().train_seconds = static_cast<double>(row.wall_ms + seed) / 1000;
            trials.back().device_seconds = 1800;
            trials.back().usd = 2.0;
        }
    }
    Results sweep = a_sweep_of(std::move(trials));
    sweep.scale = "proxy";
    return sweep;
}

// Rows of a table whose spread over seeds is known well.
inline std::vector<ClaimedLosses> quiet_rows(double base, double base_half, double tech, double tech_half) {
    const auto around = [](double mean) { return std::vector<double>{mean - 0.01, mean, mean + 0.01}; };
    return {
        {kBase, around(base)}, {kBaseHalf, around(base_half)}, {kTech, around(tech)}, {kTechHalf, around(tech_half)}};
}

inline Claim a_claim_on_time(double fraction) {
    Claim claim = a_claim(ClaimKind::at_most_fraction, kTechHalf, kBase, fraction);
    claim.proxy.quantity = parse_quantity("train hours", {});
    claim.proxy.unit = "h";
    return claim;
}

inline std::vector<ClaimedLosses> rows_of_half_the_time() {
    std::vector<ClaimedLosses> rows = quiet_rows(2, 2.5, 1.9, 2.004);
    for (ClaimedLosses& row : rows) row.wall_ms = row.row.budget_fraction == 1 ? 100'000 : 50'000;
    return rows;
}

inline CheckFinding judged(Claim claim, const Results& sweep) {
    return check_claims(table_of({std::move(claim)}), sweep, {}).front().judged.finding;
}

}  // namespace deft::reporting
