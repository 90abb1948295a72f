#pragma once

#include <string>

namespace deft::cli {

// "deft 0.1.0 (GNU 12.2.0, Release)"
std::string version_text();

}  // namespace deft::cli
