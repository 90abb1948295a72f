#pragma once
// A sweep's planned consumption: one line for each row, counted before anything runs.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "experiments/hardware.h"
#include "experiments/step_time.h"
#include "reporting/analysis/published/published.h"
#include "sweeps/driver/slots.h"
#include "sweeps/spec/expand.h"
#include "sweeps/spec/spec.h"

namespace deft::sweeps {

// A published number that is printed beside a planned one.
struct PublishedValue {
    reporting::PublishedCell cell;
    double value = 0;                // in the plan's unit: hours, samples a second, dollars
    std::string unit;                // as printed, "K USD"
    std::string table, row, column;  // its place
};

// Seeds differ in nothing that is planned. What is counted is of one seed.
struct PlanRow {
    Trial trial;                   // of the first seed
    bool chose_recompute = false;  // train.recompute was "auto": the trial has what it takes
    std::vector<std::int64_t> seeds;
    std::size_t trained = 0;                           // of those that no row above trains already
    std::optional<experiments::BesideCompute> beside;  // where Plan::counts_exchange and the device's rates are known
    std::optional<double> hours;                       // where the sweep names a device with a peak
    std::optional<double> samples_per_second;          // from the same
    std::optional<double> dollars;                     // devices x hours x price, where there is a price
    // Where the sweep names a paper's table that has them.
    std::optional<PublishedValue> published_hours, published_rate, published_dollars;
    bool is_fitted_on = false;  // the time of this row is the published one by construction

    double samples() const;  // of full length, as published rates count them
};

// "hours", "samples/s" or "USD" of a row that has a published number.
struct Comparison {
    const char* quantity = "";
    std::optional<double> planned;
    const PublishedValue* published = nullptr;
    bool is_fitted = false;  // planned is the published one by construction

    std::optional<double> error_percent() const;  // of what is planned against what is published
};
// A price as the plan takes it: the sweep's own, otherwise the device's published one, otherwise what published dollars
// imply.
struct PlanPrice {
    double usd_per_hour = 0;
    std::string sku, date, source;
    bool is_implied = false;  // then `source` says by what, and nobody published it
};

struct Plan {
    std::string sweep;
    std::string scale;  // "as written" where the file has none of that name
    std::optional<experiments::DeviceUse> device;
    std::optional<PlanPrice> price;                      // with a device only
    std::optional<reporting::PublishedTable> published;  // with a device only
    std::optional<reporting::PublishedTable> fitted_in;  // where its times are those of another table
    bool counts_exchange =
        false;               // hours have the bytes between devices in them, for a row divides its experts among them
    std::string lacks;       // why that cannot be counted, and there are no hours; empty: it can, or need not
    std::string not_fitted;  // why the share of the peak could not be fitted, where it was to be
    std::vector<PlanRow> rows;
    std::size_t trials = 0;                // what several places share is trained once
    std::size_t places = 0;                // of the sweep that were planned for
    double flops = 0;                      // of all trials
    std::optional<double> hours, dollars;  // of all trials, one after the other
    std::vector<std::string> notes;        // what the figures rest on

    // The table of the published hours and rates; null without one.
    const reporting::PublishedTable* times() const;
    const PlanRow* fitted_row() const;  // null where nothing was fitted
};

std::vector<Comparison> comparisons(const Plan& plan, const PlanRow& row);

// `trials`: those to plan for, in the sweep's order, each in a slot as this one. Errors: config, for a damaged table of
// published numbers.
Plan make_plan(const Spec& spec, std::vector<Trial> trials, const Slot& slot = {});

// {"schema": "deft-plan/1", "sweep", "scale", "device", "price", "rows", "total", "notes"}; null for what is unknown.
Json to_json(const Plan& plan);

}  // namespace deft::sweeps
