#pragma once
// Rows on their way between ranks that each have some of a layer's experts (Lepikhin et al. 2020, section 3): one
// all-to-all takes them to their experts, another brings back what these make of them.

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/comm/communicator.h"
#include "engine/core/exec.h"
#include "engine/nn/planner.h"

namespace deft::engine {

// Every rank sorts its rows by experts, and so does an expert's rank: the rows of one expert from all ranks lie
// together, in the order of ranks. All ranks call these together.
class ExpertExchange {
 public:
    // E experts, divided evenly among plan.ranks.experts, which receive at most most_rows rows of C values on a rank.
    ExpertExchange(const Planner& plan, std::int64_t E, std::int64_t most_rows, std::int64_t C);

    // Learns what goes where, for which it waits for a device. start (E + 1) i32: of this rank's slots those of each
    // expert. Errors: std::logic_error, for more rows than there is room for.
    void exchange_counts(Exec&, Tensor start) const;
    // The rows that arrive at this rank's experts, since exchange_counts().
    std::int64_t rows() const { return exchanged_->start.back(); }
    const Tensor& start() const { return start_; }  // (E / ranks + 1) i32, of those rows

    // into (rows(), C) = the rows that chose this rank's experts; rows (slots, C) are in the exchanged order.
    void to_experts(Exec&, Tensor into, Tensor rows) const;
    // And back: into (slots, C), rows (rows(), C).
    void from_experts(Exec&, Tensor into, Tensor rows) const;

 private:
    // Counts on the host, where ranks exchange how many rows they send.
    struct ExchangedCounts {
        std::vector<std::int32_t> slots;  // (E + 1): where this rank's slots of each expert start
        std::vector<std::int32_t> leaving,
            count;  // (ranks, own): rows to each rank's experts, and from each to its own
        std::vector<std::int64_t> sent, received;        // (ranks): the same of all experts of a rank
        std::vector<std::int32_t> start;                 // (own + 1)
        std::vector<std::int32_t> next;                  // (own): where an expert's next row goes
        std::vector<std::int32_t> arrival_of, place_of;  // (most_rows)
    };
    void count_rows() const;
    void place_rows() const;

    Communicator rows_, counts_of_rows_;
    std::int64_t ranks_, own_, most_rows_, C_;  // own: experts of this rank
    std::shared_ptr<ExchangedCounts> exchanged_;
    Tensor start_;                  // (own + 1) i32
    Tensor arrival_of_, place_of_;  // (most_rows) i32: of a row by experts where it arrived, and the other way round
    Tensor arrived_;                // scratch (most_rows, C), by ranks
};

}  // namespace deft::engine
