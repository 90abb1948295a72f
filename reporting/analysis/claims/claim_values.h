#pragma once
// The rows of a sweep that a claim is of, a value a seed.

#include <cstddef>
#include <string>
#include <vector>

#include "reporting/analysis/published/claim.h"
#include "reporting/analysis/results/rows.h"
#include "reporting/analysis/statistics/contrast.h"

namespace deft::reporting {

struct ClaimValues {
    std::string name;  // "CL at 50%"
    const Row* measured = nullptr;
    std::vector<SeedScore> values;  // in the claim's unit; seeds of later stages are averaged within the first stage's
    std::vector<std::string> diverged, unfinished;  // seeds
    double seconds_a_seed = 0;                      // of training, on all devices of a trial, as measured
    double usd_a_seed = 0;                          // 0: no price
    std::string missing;                            // why no value can be judged; empty: one can
};

// Whether the row is of that recipe and budget.
bool is_claimed(const Row& row, const ClaimedRow& claimed);

// Among the sweep's rows of that recipe and budget the first that has the quantity. `scale`: of the claim.
ClaimValues claim_values(const std::vector<Row>& rows, const ClaimedRow& claimed, const ClaimScale& scale);

// Why no such quantity can be compared over these rows, for it is read off a clock and they were trained on slots of
// several shapes; empty: it can.
std::string several_slots(const std::vector<const Row*>& rows, const Quantity& quantity);

// Every row of that stage that counts and has the quantity: the variance over seeds is pooled from these.
std::vector<std::vector<double>> values_of_stage(const std::vector<Row>& rows, const std::string& stage,
                                                 const ClaimScale& scale);

}  // namespace deft::reporting
