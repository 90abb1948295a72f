#pragma once
// A trial's journal, line by line, into rows; see Writer::ingest.

#include <cstdint>
#include <filesystem>

#include "results_db/connection.h"
#include "results_db/writer.h"

namespace deft::results_db {

IngestResult ingest_journal(Connection& connection, std::int64_t attempt_id, const std::filesystem::path& journal);

}  // namespace deft::results_db
