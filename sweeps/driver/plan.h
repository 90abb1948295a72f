#pragma once
// What a sweep would consume: one row a variant, counted before anything runs.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "experiments/hardware.h"
#include "reporting/published.h"
#include "sweeps/spec/expand.h"
#include "sweeps/spec/spec.h"

namespace deft::sweeps {

// Seeds differ in nothing that is planned. What is counted is of one seed.
struct PlanRow {
    Point point;  // of the first seed
    std::vector<std::int64_t> seeds;
    std::size_t trained = 0;  // of those that no row above trains already
    std::optional<double> hours;                         // where the sweep names a device with a peak
    std::optional<reporting::PublishedCell> published;   // hours, where it also names a paper's table that has them
    std::optional<double> dollars;                       // devices x hours x price, where there is a price

    bool is_fitted_on = false;                           // the hours of this row are the published ones by construction

    std::optional<double> error_percent() const;  // of hours against the published ones
};

// A price as the plan takes it: the sweep's own, otherwise the device's published one.
struct PlanPrice {
    double usd_per_hour = 0;
    std::string sku, date, source;
};

struct Plan {
    std::string sweep;
    std::string scale;  // "as written" where the file has none of that name
    std::optional<experiments::DeviceUse> device;
    std::optional<PlanPrice> price;                     // with a device only
    std::optional<reporting::PublishedTable> published; // with a device only
    std::vector<PlanRow> rows;
    std::size_t trials = 0;                    // what several places share is trained once
    std::size_t places = 0;                    // of the sweep that were planned for
    double flops = 0;                          // of all trials
    std::optional<double> hours, dollars;      // of all trials, one after the other
    std::vector<std::string> notes;            // what the figures rest on
};

// `points`: those to plan for, in the sweep's order. Errors: config, for a damaged table of published numbers.
Plan make_plan(const Spec& spec, std::vector<Point> points);

// {"schema": "deft-plan/1", "sweep", "scale", "device", "price", "rows", "total", "notes"}; null for what is unknown.
Json to_json(const Plan& plan);

}  // namespace deft::sweeps
