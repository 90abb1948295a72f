#pragma once
// The optimizer's moments of a weight, of which ranks may each have a part, written by rank 0 as the one tensor that they
// are. Rank 0 asks for others' parts piece by piece, so that no rank ever has them all.

#include <string>
#include <vector>

#include "engine/comm/communicator.h"
#include "engine/io/safetensors.h"
#include "engine/nn/parameters.h"

namespace deft::engine {

// What a file calls the first or second moment of a weight: NAME.m or NAME.v.
std::string moment_name(const Parameter& parameter, int which);

// On rank 0. Until it is gone all others answer_for_moments(); thereby they are told that nothing more is asked, also where
// rank 0 unwinds from an error.
class GatheredMoments {
 public:
    GatheredMoments(Exec& exec, const ParameterTable& table, const Communicator& ranks)
        : exec_(exec), table_(table), ranks_(ranks) {}
    ~GatheredMoments();
    GatheredMoments(const GatheredMoments&) = delete;
    GatheredMoments& operator=(const GatheredMoments&) = delete;

    // Names and shapes of the moments of every weight, in the order in which they are written.
    std::vector<NamedTensor> tensors() const;
    // All of them, as the next bytes of `out`. Errors: io; device.
    void write(SafetensorsOutput& out) const;

 private:
    void write_moment(std::size_t parameter, int which, SafetensorsOutput& out) const;

    Exec& exec_;
    const ParameterTable& table_;
    const Communicator& ranks_;
};

// On the other ranks.
void answer_for_moments(Exec& exec, const ParameterTable& table, const Communicator& ranks);

}  // namespace deft::engine
