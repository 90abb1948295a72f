#pragma once
// Rows on their way between ranks that each have some of a layer's experts (Lepikhin et al. 2020, section 3): one
// all-to-all takes them to their experts, another brings back what these make of them.

#include <cstdint>

#include "engine/comm/communicator.h"
#include "engine/core/exec.h"
#include "engine/nn/planner.h"

namespace deft::engine {

// Every rank stands its rows by experts, and an expert's rank stands them likewise: those of one expert from all ranks
// together, in the order of ranks. All ranks call these together. On the CPU.
class ExpertExchange {
 public:
    // E experts, divided evenly among plan.ranks.experts, to which at most so many rows of C values come on a rank.
    ExpertExchange(const Planner& plan, std::int64_t E, std::int64_t most_rows, std::int64_t C);

    // Learns what goes where. start (E + 1) i32: of this rank's slots those of each expert. Errors: std::logic_error, for more
    // rows than there is room for.
    void tell(Tensor start) const;
    // That come to this rank's experts, since tell().
    std::int64_t rows() const { return start_.as<std::int32_t>()[own_]; }
    const Tensor& start() const { return start_; }  // (E / ranks + 1) i32, of those rows

    // into (rows(), C) = the rows that chose this rank's experts; rows (slots, C) stand as told by start.
    void to_experts(Exec&, Tensor into, Tensor rows, Tensor start) const;
    // And back: into (slots, C), rows (rows(), C).
    void from_experts(Exec&, Tensor into, Tensor rows, Tensor start) const;

 private:
    struct Counts;
    Counts counts(const Tensor& start) const;

    Communicator rows_, counts_of_rows_;
    std::int64_t ranks_, own_, most_rows_, C_;  // own: experts of this rank
    Tensor count_;                  // (ranks, own) i32: rows from each rank for each of this rank's experts
    Tensor start_;                  // (own + 1) i32
    Tensor arrival_of_, place_of_;  // (most_rows) i32: of a row by experts where it arrived, and the other way round
    Tensor arrived_;                // scratch (most_rows, C), by ranks
};

}  // namespace deft::engine
