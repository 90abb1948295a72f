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
      exchanged_(std::make_shared<ExchangedCounts>()),
      start_(plan.saved("exchange.start", DType::i32, {own_ + 1})),
      arrival_of_(plan.saved("exchange.arrival", DType::i32, {most_rows})),
      place_of_(plan.saved("exchange.place", DType::i32, {most_rows})),
      arrived_(plan.scratch("exchange.arrived", {most_rows, C})) {}

void ExpertExchange::exchange_counts(Exec& exec, Tensor start) const {
    ExchangedCounts& exchanged = *exchanged_;
    exchanged.slots.resize(static_cast<std::size_t>(start.numel()));
    read_tensor(exec, exchanged.slots.data(), start);
    count_rows();
    place_rows();
    write_tensor(exec, start_, exchanged.start.data());
    if (rows() == 0) return;
    write_tensor(exec, arrival_of_.view({rows()}), exchanged.arrival_of.data());
    write_tensor(exec, place_of_.view({rows()}), exchanged.place_of.data());
}

void ExpertExchange::count_rows() const {
    ExchangedCounts& exchanged = *exchanged_;
    const auto experts = static_cast<std::size_t>(ranks_ * own_);
    exchanged.leaving.resize(experts);
    for (std::size_t e = 0; e < experts; ++e) exchanged.leaving[e] = exchanged.slots[e + 1] - exchanged.slots[e];
    exchanged.count.resize(experts);
    exchanged.sent.assign(static_cast<std::size_t>(ranks_), 1);
    counts_of_rows_.all_to_all(std::as_bytes(std::span(exchanged.leaving)), exchanged.sent,
                               std::as_writable_bytes(std::span(exchanged.count)), exchanged.sent,
                               own_ * static_cast<std::int64_t>(sizeof(std::int32_t)));

    exchanged.start.assign(static_cast<std::size_t>(own_) + 1, 0);
    exchanged.received.assign(static_cast<std::size_t>(ranks_), 0);
    const auto own = static_cast<std::size_t>(own_);
    for (std::size_t r = 0; r < exchanged.sent.size(); ++r) {
        exchanged.sent[r] = exchanged.slots[(r + 1) * own] - exchanged.slots[r * own];
        for (std::size_t e = 0; e < own; ++e) {
            const std::int32_t rows = exchanged.count[r * own + e];
            exchanged.received[r] += rows;
            exchanged.start[e + 1] += rows;
        }
    }
    std::partial_sum(exchanged.start.begin(), exchanged.start.end(), exchanged.start.begin());
    if (rows() > most_rows_) throw std::logic_error("more rows for a rank's experts than a pass has room for");
}

void ExpertExchange::place_rows() const {
    ExchangedCounts& exchanged = *exchanged_;
    exchanged.arrival_of.resize(static_cast<std::size_t>(rows()));
    exchanged.place_of.resize(static_cast<std::size_t>(rows()));
    exchanged.next.assign(exchanged.start.begin(), exchanged.start.end() - 1);
    std::int32_t arrival = 0;
    for (std::size_t from = 0; from < exchanged.count.size(); ++from)  // (ranks, own)
        for (std::int32_t i = 0; i < exchanged.count[from]; ++i, ++arrival) {
            const std::int32_t place = exchanged.next[from % static_cast<std::size_t>(own_)]++;
            exchanged.arrival_of[static_cast<std::size_t>(place)] = arrival;
            exchanged.place_of[static_cast<std::size_t>(arrival)] = place;
        }
}

void ExpertExchange::to_experts(Exec& exec, Tensor into, Tensor rows) const {
    rows_.all_to_all(bytes_of(rows), exchanged_->sent, bytes_of(arrived_), exchanged_->received,
                     C_ * size_of(rows.dtype));
    rows_at(exec, into, arrived_, arrival_of_, this->rows(), C_);
}

void ExpertExchange::from_experts(Exec& exec, Tensor into, Tensor rows) const {
    rows_at(exec, arrived_, rows, place_of_, this->rows(), C_);
    rows_.all_to_all(bytes_of(arrived_), exchanged_->received, bytes_of(into), exchanged_->sent,
                     C_ * size_of(rows.dtype));
}

}  // namespace deft::engine
