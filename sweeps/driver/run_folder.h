#pragma once
// The files of a run folder: trial.json, journal.jsonl, log.txt, outcome.json.

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/journal.h"
#include "base/json.h"
#include "experiments/trial.h"
#include "results_db/writer.h"
#include "sweeps/driver/rank_hosts.h"
#include "sweeps/spec/expand.h"

namespace deft::sweeps {

inline constexpr const char* kTrialSchema = "deft-trial/4";

// A folder may remain from a database that is gone; its content must not be overwritten. Moves the number on.
std::filesystem::path free_run_folder(const std::filesystem::path& root, const std::string& config_hash,
                                      std::int64_t& number);

// An attempt's work: train, or score by those of the trial's requests that have these keys.
struct Assignment {
    results_db::Work work = results_db::Work::train;
    std::filesystem::path checkpoint;  // to score
    std::vector<std::string> keys;
    std::filesystem::path start = {};  // to train from; empty: weights are drawn
};

struct TrialFile {
    experiments::TrialConfig config;
    experiments::TrialPlaces places;
    Assignment assignment;
    experiments::TrialSlot slot;
    int ranks = 1;         // processes that do it together
    RankHosts hosts = {};  // of these processes
    pid_t driver_pid = 0;  // of the process that wrote it and starts it; 0: a batch system starts it
};

// provenance: the code and the host, as in RecordedSweep. is_child: this process starts the trial itself.
void write_trial_file(const Trial& trial, const std::string& sweep, const results_db::NewAttempt& attempt,
                      const Json& provenance, const experiments::TrialPlaces& places, const Assignment& assignment,
                      const experiments::TrialSlot& slot, bool is_child = true, const RankHosts& hosts = {});
// Errors: io, config.
TrialFile read_trial_file(const std::filesystem::path& run_folder);

// A trial file's facts about its attempt, whichever deft wrote it.
struct TrialOrigin {
    std::string config_hash;         // as this program gives it
    results_db::NewAttempt attempt;  // workdir: runs/NAME of the folder
    results_db::Code code;           // "unknown" where the file does not say
    results_db::Host host;
};
// Nothing where the file is absent or is not such a file.
std::optional<TrialOrigin> read_origin(const std::filesystem::path& run_folder);

// The end of an attempt as the driver stored it. A database rebuilt from the folders keeps its times and costs.
// Empty where the file is missing, or an older program wrote it.
std::optional<results_db::Outcome> read_outcome_file(const std::filesystem::path& run_folder);
void write_outcome_file(const std::filesystem::path& run_folder, const results_db::Outcome& outcome);

// A journal as read from its start. Damaged: some complete line is not a record; the others count.
struct JournalSummary {
    std::optional<journal::Started> started;
    std::optional<journal::TrainPoint> last_point;
    std::optional<journal::Ended> ended;
    std::optional<std::string> damage;
    bool is_shorter = false;   // than what was read of it before, which is damage too
    std::int64_t last_ms = 0;  // of the last line that has a time
};
JournalSummary read_journal(const std::filesystem::path& journal);

// Seconds of training that the attempt ran itself, without those before the checkpoint that it went on from. One that
// was killed counts up to its last line. Nothing where it did not begin.
std::optional<double> own_seconds(const JournalSummary& journal);

// When its process began.
std::int64_t began_ms(const journal::Started& started);
// Seconds from then to the last line, for an attempt whose end nobody saw. Nothing where its journal does not record
// when it began, as those of older programs.
std::optional<double> held_seconds(const JournalSummary& journal);

// The last lines of a log, control characters made harmless. Empty without a log.
std::vector<std::string> last_lines(const std::filesystem::path& log, std::size_t count);

}  // namespace deft::sweeps
