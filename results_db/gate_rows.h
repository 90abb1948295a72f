#pragma once
// Baselines in the results database: what later sweeps are compared with.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace deft::results_db {

// One measure of one row of a baseline.
struct BaselineRow {
    std::string name;          // of the baseline: "main"
    std::string variant;       // of the row: "cl[budget_fraction=0.5]"
    std::string variant_hash;  // of its configuration without the seed
    std::string measure_json = "{}";
    double center = 0, lowest = 0, highest = 0;  // over the seeds
    std::int64_t seeds = 1;
    std::string source_json = "{}";
    std::string pinned_by, reason;
    std::int64_t created_ms = 0;
    std::optional<std::int64_t> retired_ms = {};  // nothing: it is live
};

class Connection;

// In the caller's transaction. Errors: usage, where a live baseline has the name of the rows; database.
void insert_baseline(Connection& connection, const std::vector<BaselineRow>& rows);
// How many rows were live. Errors: missing, with the live names.
std::int64_t retire_baseline(Connection& connection, const std::string& name, std::int64_t now_ms);
// Live and retired ones, by name and time.
std::vector<BaselineRow> read_baselines(Connection& connection);

// Conclusions of gates, with the limits that they applied. Append-only.

struct VerdictRow {
    std::string check_uid;  // shared by the verdicts of one check
    std::int64_t created_ms = 0;
    std::string kind;  // bench | quality | trend | claim
    std::string subject_json = "{}", rule_json = "{}";
    std::optional<double> effect, lower, upper;  // log ratio of times, or difference of scores and losses
    std::optional<double> limit;                 // in the effect's units
    std::optional<double> p_value, adjusted_p;
    std::string result;  // better | same | worse | unclear | broken | missing; of a claim holds | fails
    std::string text;    // the finding as it was printed
};

class Connection;

// In the caller's transaction. Errors: database.
void insert_verdicts(Connection& connection, const std::vector<VerdictRow>& rows);
// In the order given.
std::vector<VerdictRow> read_verdicts(Connection& connection);

}  // namespace deft::results_db
