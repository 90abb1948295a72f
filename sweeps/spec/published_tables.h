#pragma once
// The published tables that come with the program: reporting/paper/*.toml.

#include <optional>
#include <string>
#include <vector>

#include "reporting/analysis/published/published.h"

namespace deft::sweeps {

// Their names, sorted.
std::vector<std::string> published_tables();

// Nothing for an empty name. Errors: missing (no such table), config (a damaged file).
std::optional<reporting::PublishedTable> published_table(const std::string& name);

}  // namespace deft::sweeps
