#pragma once
// What gates concluded, with the limits that they applied. Only added to.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace deft::results_db {

struct VerdictRow {
    std::string check_uid;  // shared by the verdicts of one check
    std::int64_t created_ms = 0;
    std::string kind;  // bench | quality | trend
    std::string subject_json = "{}", rule_json = "{}";
    std::optional<double> effect, lower, upper;  // log ratio of times, or difference of scores and losses
    std::optional<double> limit;                 // in the effect's units
    std::optional<double> p_value, adjusted_p;
    std::string result;  // better | same | worse | unclear | broken | missing
    std::string text;    // the finding as it was told
};

class Connection;

// In the caller's transaction. Errors: database.
void insert_verdicts(Connection& connection, const std::vector<VerdictRow>& rows);
// In the order given.
std::vector<VerdictRow> read_verdicts(Connection& connection);

}  // namespace deft::results_db
