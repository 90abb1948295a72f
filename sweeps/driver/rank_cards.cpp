#include "sweeps/driver/rank_cards.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <vector>

#include <fmt/ranges.h>

namespace deft::sweeps {

std::string own_card_first(const std::string& visible, int rank) {
    std::vector<std::string> cards;
    std::istringstream in(visible);
    for (std::string card; std::getline(in, card, ',');) cards.push_back(card);
    if (cards.empty()) return visible;
    std::rotate(cards.begin(), cards.begin() + rank % static_cast<std::ptrdiff_t>(cards.size()), cards.end());
    return fmt::format("{}", fmt::join(cards, ","));
}

void use_own_card(int rank) {
    const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
    if (visible != nullptr) ::setenv("CUDA_VISIBLE_DEVICES", own_card_first(visible, rank).c_str(), 1);
}

}  // namespace deft::sweeps
