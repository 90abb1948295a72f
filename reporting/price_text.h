#pragma once
// A price as tables and notes state it.

#include <fmt/format.h>

#include <string>

#include "reporting/numbers.h"
#include "results_db/store.h"

namespace deft::reporting {

// "$0.05 an hour of cpu4, price of 2025-01-31, a list".
inline std::string price_text(const results_db::Price& price) {
    return fmt::format("${:g} an hour of {}, price of {}, {}", price.usd_per_hour, price.sku, date(price.date_ms),
                       price.source);
}

}  // namespace deft::reporting
