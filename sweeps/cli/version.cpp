#include "sweeps/cli/version.h"

namespace deft::cli {

std::string version_text() {
    return "deft " DEFT_VERSION " (" DEFT_COMPILER ", " DEFT_BUILD_TYPE ")";
}

}  // namespace deft::cli
