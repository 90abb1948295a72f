#pragma once
// Finding things in a root for the commands that only read.

#include <string>

#include "results_db/store.h"

namespace deft::cli {

// Errors: missing, with how to make one.
results_db::Reader open_results(const std::string& root);
inline constexpr const char* kSweepHelp =
    "Its name, or NAME@HASH as `deft status` shows it; the newest where none is given";

// The sweep of that name, or NAME@HASH; the newest where it is empty. Errors: missing, with the nearest name.
results_db::SweepResults find_sweep(const results_db::Reader& reader, const std::string& name);

}  // namespace deft::cli
