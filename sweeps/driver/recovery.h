#pragma once
// Puts in order what a killed driver left behind.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "results_db/store.h"
#include "sweeps/driver/trial_process.h"

namespace deft::sweeps {

// Ends orphans, takes in the rest of their journals, and gives every attempt that is still marked live an end. Call it
// as the holder of the lock, before anything starts. Returns what it did, a line each. Errors: database, naming the pid
// of a process that cannot be ended; those of the writer.
std::vector<std::string> recover(results_db::Writer& writer, const std::filesystem::path& root, int grace_ms);

// Takes in what the journal has that is new; returns nothing where lines of it are damaged, which `damage` then says.
std::optional<results_db::IngestResult> ingest_or_explain(results_db::Writer& writer, std::int64_t attempt,
                                                          const std::filesystem::path& journal, std::string& damage);

// The same at a trial's end, with what the whole journal says.
JournalSummary ingest_rest(results_db::Writer& writer, std::int64_t attempt, const std::filesystem::path& journal);

// How an attempt ended whose process nobody waited for, and the seconds that it trained, by its journal alone; `unsaid`:
// the error of one that does not tell.
results_db::Outcome outcome_of(const JournalSummary& journal, const std::string& unsaid);

// Stores an attempt's end and the seconds that it trained, and outcome.json in its run folder.
void record_end(results_db::Writer& writer, std::int64_t attempt, const std::filesystem::path& run_folder,
                results_db::Outcome outcome, const JournalSummary& journal);

}  // namespace deft::sweeps
