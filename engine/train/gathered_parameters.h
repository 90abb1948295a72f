#pragma once
// Weights and the optimizer's moments, of which ranks may each have a part, written by rank 0 as the whole tensors that
// they are. Rank 0 asks for others' parts piece by piece, so that no rank ever has them all.

#include <string>
#include <vector>

#include "engine/comm/communicator.h"
#include "engine/io/safetensors.h"
#include "engine/io/write_weights.h"
#include "engine/nn/parameters.h"

namespace deft::engine {

// The name in a file of the first or second moment of a weight: NAME.m or NAME.v.
std::string moment_name(const Parameter& parameter, int which);

// Its shape and type on all ranks together, without memory.
Tensor shape_of_moment(const ParameterTable& table, const Parameter& parameter, int which);

// On rank 0. Until it is destroyed all others answer_for_parameters(); its end releases them, also
// where rank 0 unwinds from an error.
class GatheredParameters {
 public:
    // expert_ranks: that divide the experts, as RankLayout has it.
    GatheredParameters(Exec& exec, const ParameterTable& table, const Communicator& ranks, int expert_ranks)
        : exec_(exec), table_(table), ranks_(ranks), expert_ranks_(expert_ranks) {}
    ~GatheredParameters();
    GatheredParameters(const GatheredParameters&) = delete;
    GatheredParameters& operator=(const GatheredParameters&) = delete;

    // Names and shapes of the moments of every weight, in the order in which they are written.
    std::vector<NamedTensor> moments() const;
    // All of them, as the next bytes of `out`. Errors: io; device.
    void write_moments(SafetensorsOutput& out) const;

    // Elements of a divided weight, for write_weights(). Errors: as write_in_pieces().
    void write_elements(const Parameter& parameter, Share elements, Layout layout, SafetensorsOutput& out) const;

 private:
    // Writes elements of one rank's own part.
    void write_from(int rank, std::size_t parameter, int which, Share elements, Layout layout,
                    SafetensorsOutput& out) const;
    std::size_t number_of(const Parameter& parameter) const;

    Exec& exec_;
    const ParameterTable& table_;
    const Communicator& ranks_;
    int expert_ranks_;
};

// On the other ranks.
void answer_for_parameters(Exec& exec, const ParameterTable& table, const Communicator& ranks);

}  // namespace deft::engine
