#include "sweeps/gate/first_loss.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"

namespace deft::sweeps {

void require_first_loss(const std::string& who, double loss, const engine::StepBench& bench) {
    const double expected = engine::expected_first_loss(bench.model);
    if (!(std::abs(loss - expected) <= engine::first_loss_tolerance(bench)))
        throw Error(ErrorKind::data,
                    fmt::format("{} begins with a loss of {:.3f} on random samples, where {:.3f} is right", who, loss,
                                expected),
                    "", "what is stored");
}

}  // namespace deft::sweeps
