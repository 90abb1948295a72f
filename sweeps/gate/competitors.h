#pragma once
// Processes that compute beside a measurement, as those of other users do.

#include <memory>
#include <vector>

#include "base/process.h"

namespace deft::sweeps {

class Competitors {
 public:
    // Starts that many, frozen. Errors: io.
    explicit Competitors(int count);

    void freeze() const;
    void thaw() const;

 private:
    std::vector<std::unique_ptr<PipedProcess>> processes_;
};

}  // namespace deft::sweeps
