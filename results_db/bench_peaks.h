#pragma once
// The peaks of a machine as its last run of benchmarks measured them.

#include <filesystem>
#include <string>

#include "results_db/rows.h"

namespace deft::results_db {

// JSON of the newest session of that machine at as many threads; empty where none measured peaks. Errors: those of
// open_for_reading().
std::string last_peaks(const std::filesystem::path& file, const Host& host, int threads);

}  // namespace deft::results_db
