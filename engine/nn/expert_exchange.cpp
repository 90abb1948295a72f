#include "engine/nn/expert_exchange.h"

#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

#include "engine/core/ops.h"

namespace deft::engine {

namespace {

std::span<std::byte> bytes_of(const Tensor& tensor) {
    return {static_cast<std::byte*>(tensor.data), static_cast<std::size_t>(tensor.bytes())};
}

// out (n, C) = the rows of x at index (n)
void rows_at(Exec& exec, const Tensor& out, const Tensor& x, const Tensor& index, std::int64_t n, std::int64_t C) {
    if (n > 0) gather_rows(exec, out.view({1, n, C}), x.view({1, n, C}), index.view({1, n}));
}

}  // namespace

ExpertExchange::ExpertExchange(const Planner& plan, std::int64_t E, std::int64_t most_rows, std::int64_t C)
    : rows_(plan.ranks.expert_rows),
      counts_of_rows_(plan.ranks.expert_counts),
      ranks_(plan.ranks.experts.ranks),
      own_(E / ranks_),
      most_rows_(most_rows),
      C_(C),
      told_(std::make_shared<Told>()),
      start_(plan.saved("exchange.start", DType::i32, {own_ + 1})),
      arrival_of_(plan.saved("exchange.arrival", DType::i32, {most_rows})),
      place_of_(plan.saved("exchange.place", DType::i32, {most_rows})),
      arrived_(plan.scratch("exchange.arrived", {most_rows, C})) {}

void ExpertExchange::tell(Exec& exec, Tensor start) const {
    Told& told = *told_;
    told.slots.resize(static_cast<std::size_t>(start.numel()));
    read_tensor(exec, told.slots.data(), start);
    count_rows();
    place_rows();
    write_tensor(exec, start_, told.start.data());
    if (rows() == 0) return;
    write_tensor(exec, arrival_of_.view({rows()}), told.arrival_of.data());
    write_tensor(exec, place_of_.view({rows()}), told.place_of.data());
}

void ExpertExchange::count_rows() const {
    Told& told = *told_;
    const auto experts = static_cast<std::size_t>(ranks_ * own_);
    told.leaving.resize(experts);
    for (std::size_t e = 0; e < experts; ++e) told.leaving[e] = told.slots[e + 1] - told.slots[e];
    told.count.resize(experts);
    told.sent.assign(static_cast<std::size_t>(ranks_), 1);
    counts_of_rows_.all_to_all(std::as_bytes(std::span(told.leaving)), told.sent, std::as_writable_bytes(std::span(told.count)),
                               told.sent, own_ * static_cast<std::int64_t>(sizeof(std::int32_t)));

    told.start.assign(static_cast<std::size_t>(own_) + 1, 0);
    told.received.assign(static_cast<std::size_t>(ranks_), 0);
    const auto own = static_cast<std::size_t>(own_);
    for (std::size_t r = 0; r < told.sent.size(); ++r) {
        told.sent[r] = told.slots[(r + 1) * own] - told.slots[r * own];
        for (std::size_t e = 0; e < own; ++e) {
            const std::int32_t rows = told.count[r * own + e];
            told.received[r] += rows;
            told.start[e + 1] += rows;
        }
    }
    std::partial_sum(told.start.begin(), told.start.end(), told.start.begin());
    if (rows() > most_rows_) throw std::logic_error("more rows for a rank's experts than a pass has room for");
}

void ExpertExchange::place_rows() const {
    Told& told = *told_;
    told.arrival_of.resize(static_cast<std::size_t>(rows()));
    told.place_of.resize(static_cast<std::size_t>(rows()));
    told.next.assign(told.start.begin(), told.start.end() - 1);
    std::int32_t arrival = 0;
    for (std::size_t from = 0; from < told.count.size(); ++from)  // (ranks, own)
        for (std::int32_t i = 0; i < told.count[from]; ++i, ++arrival) {
            const std::int32_t place = told.next[from % static_cast<std::size_t>(own_)]++;
            told.arrival_of[static_cast<std::size_t>(place)] = arrival;
            told.place_of[static_cast<std::size_t>(arrival)] = place;
        }
}

void ExpertExchange::to_experts(Exec& exec, Tensor into, Tensor rows) const {
    rows_.all_to_all(bytes_of(rows), told_->sent, bytes_of(arrived_), told_->received, C_ * size_of(rows.dtype));
    rows_at(exec, into, arrived_, arrival_of_, this->rows(), C_);
}

void ExpertExchange::from_experts(Exec& exec, Tensor into, Tensor rows) const {
    rows_at(exec, arrived_, rows, place_of_, this->rows(), C_);
    rows_.all_to_all(bytes_of(arrived_), told_->received, bytes_of(into), told_->sent, C_ * size_of(rows.dtype));
}

}  // namespace deft::engine
