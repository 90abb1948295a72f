#pragma once
// "X% of the quality at 1/Y of the cost", computed.

#include <string>
#include <vector>

#include "reporting/analysis/tradeoff/tradeoff.h"

namespace deft::reporting {

// The share that the paper keeps, and by which rows are chosen.
inline constexpr double kKeptQuality = 0.95;

// The cheapest row of the line whose lower bound keeps that much; null where none does.
const TradeoffPoint* cheapest_shown(const TradeoffLine& line);
// The cheapest row whose mean keeps that much, whatever its seeds; null where none does.
const TradeoffPoint* cheapest_by_mean(const TradeoffLine& line);

// "96.1% [95.2%, 97.0%]", "96.1%" without an interval, "-" without a share.
std::string share_text(const TradeoffPoint& point);

// "1/3.1 of its tokens and 1/3.0 of its training time", of all that both rows have; from nine tenths on "1.08 times its
// tokens".
std::string paid_text(const Tradeoff& tradeoff, const TradeoffPoint& point);

// A sentence for every line but the baseline's: first its differences to the baseline at the same budgets, then which
// share it keeps for how much, and what the baseline alone keeps there. That share is the cheapest row's that is shown
// to keep enough, or else the cheapest by its mean and the cheapest of all. Then what a share is, and what was
// published.
std::vector<std::string> tradeoff_sentences(const Tradeoff& tradeoff);

}  // namespace deft::reporting
