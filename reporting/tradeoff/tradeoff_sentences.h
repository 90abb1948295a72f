#pragma once
// "X% of the quality at 1/Y of the cost", computed.

#include <string>
#include <vector>

#include "reporting/tradeoff/tradeoff.h"

namespace deft::reporting {

// Of a quality that is kept at all: what the paper keeps, and what rows are looked for by.
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

// Of every line but the baseline's what it keeps for how much, and what the baseline alone keeps there: of the cheapest
// row that is shown to keep enough, or else of the cheapest that does by its mean and of the cheapest of all. And what
// was published.
std::vector<std::string> tradeoff_sentences(const Tradeoff& tradeoff);

}  // namespace deft::reporting
