#include "kernels/cpu/workspace.h"

#include <string>

#include "base/error.h"

namespace deft::kernels::cpu {

void require_workspace(const Exec& exec, std::size_t bytes, const char* kernel) {
    if (exec.workspace.size() >= bytes) return;
    throw Error(ErrorKind::config, std::string(kernel) + " needs a workspace of " + std::to_string(bytes) +
                                       " bytes, but was given " + std::to_string(exec.workspace.size()));
}

}  // namespace deft::kernels::cpu
