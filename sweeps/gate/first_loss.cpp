#include "sweeps/gate/first_loss.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "engine/bench/step.h"

namespace deft::sweeps {

void require_first_loss(const std::string& who, double loss, const engine::TransformerConfig& model) {
    const double expected = engine::expected_first_loss(model);
    if (std::abs(loss - expected) > 0.05 * expected)
        throw Error(
            ErrorKind::data,
            fmt::format("{} begins with a loss of {:.3f} on random tokens, where {:.3f} is right", who, loss, expected),
            "", "what is stored");
}

}  // namespace deft::sweeps
