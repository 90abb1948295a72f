#pragma once
// A trial's journal, line by line, into rows; see Writer::ingest.

#include <cstdint>
#include <filesystem>
#include <limits>

#include "results_db/connection.h"
#include "results_db/writer.h"

namespace deft::results_db {

// `end`: bytes of the journal, from which on nothing is read.
IngestResult ingest_journal(Connection& connection, std::int64_t attempt_id, const std::filesystem::path& journal,
                            std::int64_t end = std::numeric_limits<std::int64_t>::max());

}  // namespace deft::results_db
