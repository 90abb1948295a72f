#pragma once
// Recovery from a killed driver: its leftovers, and finished work that the database does not know.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "results_db/writer.h"
#include "sweeps/driver/record_sweep.h"
#include "sweeps/driver/run_folder.h"

namespace deft::sweeps {

// The end of an attempt whose process nobody waited for, and the seconds that it trained, from its journal.
// `unsaid`: the error where the journal has none.
results_db::Outcome outcome_of(const JournalSummary& journal, const std::string& unsaid);

// Ends orphans, takes in the rest of their journals, and gives an end to every attempt that is still marked live,
// except those that are kept (by id). Call it as the holder of the lock, before anything starts. Returns what it did, a
// line each. Errors: database, naming the pid of a process that cannot be ended; those of the writer.
std::vector<std::string> recover(results_db::Writer& writer, const std::filesystem::path& root, int grace_ms,
                                 const std::set<std::int64_t>& kept);

struct Ingested {
    std::optional<results_db::IngestResult> fresh;  // nothing where the journal is damaged
    std::string damage;
    bool is_shorter = false;  // the damage: the file lacks what was read of it before
};
// Takes in what the journal has that is new.
Ingested ingest_or_explain(results_db::Writer& writer, std::int64_t attempt, const std::filesystem::path& journal);

// The same at a trial's end, with what the whole journal says.
JournalSummary ingest_rest(results_db::Writer& writer, std::int64_t attempt, const std::filesystem::path& journal);

// Stores an attempt's end and the seconds that it trained, and outcome.json in its run folder.
void record_end(results_db::Writer& writer, std::int64_t attempt, const std::filesystem::path& run_folder,
                results_db::Outcome outcome, const JournalSummary& journal);

// For a database that was deleted, or replaced by an older copy: takes in the run folders of each of these trials, with
// the attempts that did not end well, so that costs stay. Trained trials are left alone, and so is every file.
// Returns a line for each trial. Errors: those of the writer.
std::vector<std::string> take_in_folders(results_db::Writer& writer, const std::filesystem::path& root,
                                         const std::vector<Trial>& trials, std::span<const std::size_t> wanted,
                                         const RecordedSweep& recorded);

}  // namespace deft::sweeps
