#pragma once
// The words of srun and slurmstepd in the log of a step: srun's exit code does not say why a step ended, and is 0 where
// its node failed.

#include <filesystem>
#include <string>

#include "sweeps/driver/launcher.h"

namespace deft::sweeps {

struct StepWords {
    BatchEnd end = BatchEnd::none;
    std::string line;  // that says so
};

// A reason comes before the cancellation that it led to. A step that srun ended without a reason is forgotten.
StepWords step_words(const std::filesystem::path& log);

}  // namespace deft::sweeps
