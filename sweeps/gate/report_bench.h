#pragma once
// How long a report takes on a database of many runs.

#include <cstdint>
#include <filesystem>

namespace deft::sweeps {

struct ReportBench {
    int runs = 1000;
    int points = 200;  // of each run
    int seeds = 5;     // of each row
};

struct ReportTime {
    double write_seconds = 0;  // filling the database, not part of a report
    double read_seconds = 0;   // database to values
    double render_seconds = 0;
    std::int64_t page_bytes = 0;
};

// Fills a new database in `folder` with invented runs and makes the HTML report of it. Errors: io, database.
ReportTime time_report(const ReportBench& bench, const std::filesystem::path& folder);

}  // namespace deft::sweeps
