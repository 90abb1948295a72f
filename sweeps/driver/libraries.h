#pragma once
// Versions of what the program was built with and of what it runs on: results may differ in bits between them.

#include "base/json_fwd.h"

namespace deft::sweeps {

// {"oneDNN": "2.6.3", "libc": "glibc 2.36", ...} as loaded in this process, "compiler" as built; every value is text.
Json libraries_json();

}  // namespace deft::sweeps
