#pragma once
// How a sweep is called at the head of whatever shows it.

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "reporting/analysis/results/results.h"
#include "reporting/numbers.h"

namespace deft::reporting {

// "quickstart", or "quickstart@0123456789ab with train.learning_rate=0.001" where --set changed the file.
std::string sweep_text(const results_db::SweepHead& sweep);

// " (train.learning_rate=0.001)", a suffix of a caption; empty where --set changed nothing.
std::string overrides_suffix(const results_db::SweepHead& sweep);

// How large a sweep's models are beside those of the papers.

// The size of its largest model; 0 where unknown.
std::int64_t largest_parameters(const Results& sweep);

// Under a tenth of a billion parameters; where those are unknown, any scale but "paper".
// Such results say nothing by themselves about the papers' models.
bool is_small_scale(const Results& sweep, const std::string& scale);

// "smoke: proxy scale"; the scale's name alone where the models are large.
std::string scale_label(const Results& sweep, const std::string& scale);

// A price as tables and notes state it.

// "$0.05 an hour of cpu4, price of 2025-01-31, a list".
inline std::string price_text(const results_db::Price& price) {
    return fmt::format("${:g} an hour of {}, price of {}, {}", price.usd_per_hour, price.sku, date(price.date_ms),
                       price.source);
}

}  // namespace deft::reporting
