#include "engine/nn/expert_exchange.h"

#include <algorithm>
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

// Rows that go from this rank to each, and that come from each.
struct ExpertExchange::Counts {
    std::vector<std::int64_t> sent, received;  // (ranks)
};

ExpertExchange::ExpertExchange(const Planner& plan, std::int64_t E, std::int64_t most_rows, std::int64_t C)
    : rows_(plan.ranks.expert_rows),
      counts_of_rows_(plan.ranks.expert_counts),
      ranks_(plan.ranks.experts.ranks),
      own_(E / ranks_),
      most_rows_(most_rows),
      C_(C),
      count_(plan.saved("exchange.count", DType::i32, {ranks_, own_})),
      start_(plan.saved("exchange.start", DType::i32, {own_ + 1})),
      arrival_of_(plan.saved("exchange.arrival", DType::i32, {most_rows})),
      place_of_(plan.saved("exchange.place", DType::i32, {most_rows})),
      arrived_(plan.scratch("exchange.arrived", {most_rows, C})) {}

void ExpertExchange::tell(Tensor start) const {
    const std::int32_t* const s = start.as<std::int32_t>();
    std::vector<std::int32_t> own_count(static_cast<std::size_t>(ranks_ * own_));  // (ranks, own): to their experts
    for (std::size_t e = 0; e < own_count.size(); ++e) own_count[e] = s[e + 1] - s[e];
    const std::vector<std::int64_t> one(static_cast<std::size_t>(ranks_), 1);
    counts_of_rows_.all_to_all(std::as_bytes(std::span(own_count)), one, bytes_of(count_), one,
                               own_ * static_cast<std::int64_t>(sizeof(std::int32_t)));

    const std::int32_t* const count = count_.as<std::int32_t>();
    std::int32_t* const first = start_.as<std::int32_t>();
    first[0] = 0;
    for (std::int64_t e = 0; e < own_; ++e) {
        first[e + 1] = first[e];
        for (std::int64_t r = 0; r < ranks_; ++r) first[e + 1] += count[r * own_ + e];
    }
    if (first[own_] > most_rows_) throw std::logic_error("more rows for a rank's experts than a pass has room for");
    std::vector<std::int32_t> next(first, first + own_);  // (own): where an expert's next row stands
    std::int32_t arrival = 0;
    for (std::int64_t r = 0; r < ranks_; ++r)
        for (std::int64_t e = 0; e < own_; ++e)
            for (std::int32_t i = 0; i < count[r * own_ + e]; ++i, ++arrival) {
                const std::int32_t place = next[static_cast<std::size_t>(e)]++;
                arrival_of_.as<std::int32_t>()[place] = arrival;
                place_of_.as<std::int32_t>()[arrival] = place;
            }
}

ExpertExchange::Counts ExpertExchange::counts(const Tensor& start) const {
    const std::int32_t* const s = start.as<std::int32_t>();
    const std::int32_t* const count = count_.as<std::int32_t>();
    Counts counts;
    for (std::int64_t r = 0; r < ranks_; ++r) {
        counts.sent.push_back(s[(r + 1) * own_] - s[r * own_]);
        std::int64_t from_rank = 0;
        for (std::int64_t e = 0; e < own_; ++e) from_rank += count[r * own_ + e];
        counts.received.push_back(from_rank);
    }
    return counts;
}

void ExpertExchange::to_experts(Exec& exec, Tensor into, Tensor rows, Tensor start) const {
    const Counts n = counts(start);
    rows_.all_to_all(bytes_of(rows), n.sent, bytes_of(arrived_), n.received, C_ * size_of(rows.dtype));
    rows_at(exec, into, arrived_, arrival_of_, this->rows(), C_);
}

void ExpertExchange::from_experts(Exec& exec, Tensor into, Tensor rows, Tensor start) const {
    const Counts n = counts(start);
    rows_at(exec, arrived_, rows, place_of_, this->rows(), C_);
    rows_.all_to_all(bytes_of(arrived_), n.received, bytes_of(into), n.sent, C_ * size_of(rows.dtype));
}

}  // namespace deft::engine
