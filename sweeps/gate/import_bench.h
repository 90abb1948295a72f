#pragma once
// Stores another program's benchmark results in the results database as `deft bench run` stores ours.

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "results_db/rows.h"

namespace deft::sweeps {

// The user's corrections to the file, which may lack a fact or state it wrongly. Empty: as the file has it.
struct ImportNames {
    std::string program;  // begins the names of its series; without one, the executable's name
    std::string commit;   // that was measured
    std::string compiler;
    std::string host;  // the machine's name
};

struct ImportedSession {
    bool is_new = true;  // false: this file was imported before, and nothing was added
    std::string program;
    results_db::Host host;
    results_db::Code code;
    std::int64_t measured_ms = 0;
    bool dated = true;  // false: the file has no date that can be read, and the time of the import replaces it
    std::size_t series = 0, samples = 0, summarised = 0;        // summarised: series without repetitions
    std::vector<std::pair<std::string, std::string>> left_out;  // names, and why
};

// A session of mode 'import' in the root's database. The JSON of `deft bench run` continues the series that it
// recorded; of other programs a series is named PROGRAM, benchmark, arguments and threads. Errors: io, data (no JSON of
// Google Benchmark), usage (a program without a name), missing (no benchmark with a time), database.
ImportedSession import_bench(const std::filesystem::path& file, const std::filesystem::path& root,
                             const ImportNames& names);

}  // namespace deft::sweeps
