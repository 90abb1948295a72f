#include "sweeps/driver/rank_cards.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <sstream>
#include <vector>

#include <fmt/ranges.h>

namespace deft::sweeps {

namespace {

std::vector<std::string> cards_in(const std::string& visible) {
    std::vector<std::string> cards;
    std::istringstream in(visible);
    for (std::string card; std::getline(in, card, ',');) cards.push_back(card);
    return cards;
}

}  // namespace

std::string own_card_first(const std::string& visible, int rank) {
    std::vector<std::string> cards = cards_in(visible);
    if (cards.empty()) return visible;
    std::rotate(cards.begin(), cards.begin() + rank % static_cast<std::ptrdiff_t>(cards.size()), cards.end());
    return fmt::format("{}", fmt::join(cards, ","));
}

std::string cards_of_share(const std::string& visible, std::size_t share, int count) {
    const std::vector<std::string> cards = cards_in(visible);
    if (cards.size() < (share + 1) * static_cast<std::size_t>(count)) return "";
    const auto first = cards.begin() + static_cast<std::ptrdiff_t>(share) * count;
    return fmt::format("{}", fmt::join(first, first + count, ","));
}

// In a step of one task that calls mpirun, SLURM_LOCALID is 0 for every rank.
int rank_of_machine(int rank, const slurm::Variables& variables) {
    if (const auto local = slurm::number_in("OMPI_COMM_WORLD_LOCAL_RANK", variables)) return static_cast<int>(*local);
    const bool is_task = slurm::is_in_step(variables) && slurm::number_in("SLURM_STEP_NUM_TASKS", variables) > 1;
    return is_task ? static_cast<int>(slurm::number_in("SLURM_LOCALID", variables).value_or(rank)) : rank;
}

void show_cards(int count) {
    std::vector<int> cards(static_cast<std::size_t>(count));
    std::iota(cards.begin(), cards.end(), 0);
    ::setenv("CUDA_VISIBLE_DEVICES", fmt::format("{}", fmt::join(cards, ",")).c_str(), 0);
}

void use_own_card(int rank) {
    const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
    if (visible != nullptr) ::setenv("CUDA_VISIBLE_DEVICES", own_card_first(visible, rank).c_str(), 1);
}

}  // namespace deft::sweeps
