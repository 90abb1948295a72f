#pragma once
// How long a model is trained for its size. What a technique gains depends on it: models far below the published tokens
// a parameter still learn quickly, and halving their data costs them much more.

#include <optional>
#include <string>
#include <vector>

#include "reporting/analysis/results/rows.h"

namespace deft::reporting {

// 0: unknown.
struct Regime {
    double parameters = 0;  // that one token meets
    double tokens = 0;      // of input, repeats counted
    double steps = 0;
    double passes = 0;  // how often its text is seen, on average over the tokens seen
};

// Below it a model is short of data for its size (Hoffmann et al. 2022, section 3: about 20 are best for a fixed
// compute).
inline constexpr double kFewTokensAParameter = 20;

// Means over the finished seeds of a row that is trained on text from drawn weights; nothing of another, or where none
// has finished.
std::optional<Regime> regime_of(const Row& row);

// "Regime: baseline at 100%: 1.50 tokens per parameter, 1368 steps, text seen 1.0 times; published: ...", and a warning
// below kFewTokensAParameter. Nothing where tokens per parameter are unknown.
std::vector<std::string> regime_notes(const std::string& row, const Regime& own,
                                      const std::optional<Regime>& published);

}  // namespace deft::reporting
