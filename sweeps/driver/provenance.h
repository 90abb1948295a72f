#pragma once
// Which code on which machine: what stands behind every number.

#include <filesystem>
#include <optional>

#include "results_db/store.h"

namespace deft::sweeps {

// Never fails: what cannot be found out is "unknown" or empty. Of uncommitted changes the text is kept where asked for,
// secrets replaced (sweeps/driver/redact.h); their hash always is.
// `folder`: the project's files. An installed program's folder tells the commit in a file, which nothing else does.
results_db::Code describe_code(const std::optional<std::filesystem::path>& folder, bool keep_diff = true);
results_db::Host describe_host();

}  // namespace deft::sweeps
