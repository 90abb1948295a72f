#pragma once
// Slurm's variables: the job and the step of a process.

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>

namespace deft::slurm {

// The value of a variable, null where it is not set.
using Variables = std::function<const char*(const char* name)>;
inline const char* own_variable(const char* name) {
    return std::getenv(name);
}

// The number in a variable. Nothing where it is not set, or has anything but a number that is not negative.
std::optional<std::int64_t> number_in(const char* name, const Variables& variables = own_variable);

bool is_in_job(const Variables& variables = own_variable);
// Whether srun started this process, and did so in a step of the job.
bool is_in_step(const Variables& variables = own_variable);

}  // namespace deft::slurm
