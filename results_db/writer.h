#pragma once
// The results database as its one writer sees it. No SQL leaves this folder.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "results_db/bench_rows.h"
#include "results_db/evidence/evidence.h"
#include "results_db/gate_rows.h"
#include "results_db/live_attempts.h"
#include "results_db/rows.h"
#include "results_db/writer_lock.h"

namespace deft::results_db {

// A journal that no trial of ours can have written, as opposed to a database that cannot take it. Its kind is io.
class JournalError : public Error {
 public:
    using Error::Error;
};
// A journal that is shorter than what was read of it before, as a network file system may show it for a while.
class ShorterJournal : public JournalError {
 public:
    using JournalError::JournalError;
};

// How an attempt ended, as the driver saw it.
struct Outcome {
    std::string state;       // ok | failed | timeout | preempted | stale | cancelled
    std::string fail_class;  // as in the schema; empty when ok
    std::optional<std::int64_t> exit_code;
    std::optional<std::int64_t> term_signal;
    std::string error;
    std::int64_t peak_rss_bytes = 0;
    double cpu_seconds = 0;
    std::optional<double> own_seconds = {};  // of training that the attempt ran itself, not those before its checkpoint
    std::int64_t ended_ms = 0;               // 0: now
    std::optional<double> held_seconds = {};   // of its slot, from its start to its end; nothing: nobody saw them
    std::optional<double> queue_seconds = {};  // from its submission to its start; nothing: it did not wait, or unknown
};

// Where a batch system put an attempt.
struct AttemptPlace {
    Host host;
    std::string job, nodes;  // as in NewAttempt
};

// Newest values from the lines of a journal; empty where no line has them.
struct IngestResult {
    std::optional<journal::TrainPoint> last_point;
    std::optional<journal::Started> started;
    std::optional<journal::Ended> ended;
    std::optional<journal::Lease> lease;
    std::int64_t lines = 0;
};

// The one writer: opens or creates <file>, holds <file>.lock, migrates forward.
// Errors: database (locked by another driver, with its pid, or on another machine, with its name; foreign file;
// corrupt; newer schema), io (read-only, full disk).
class Writer {
 public:
    explicit Writer(const std::filesystem::path& file, LockOptions options = {});
    ~Writer();
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    // Each returns the id of the row with that content, added where new.
    std::int64_t add_code(const Code&);
    std::int64_t add_host(const Host&);
    // Adding a spec again makes it the newest of its name, the one that readers show.
    std::int64_t add_sweep(const Sweep&);
    std::int64_t add_trial(const Trial&);  // Errors: database, where the row was changed since.
    void add_place(std::int64_t sweep_id, std::int64_t trial_id, const TrialPlace&);
    // All of a sweep's trials with their places, or none, in one transaction. Returns the ids of the trials.
    std::vector<std::int64_t> add_trials(std::int64_t sweep_id, const std::vector<PlacedTrial>& trials);
    // Gives the price to those attempts of the sweep's trials that began when it stated none.
    void price_unpriced(std::int64_t sweep_id, const Price&);

    // True when an attempt at its training ended ok.
    bool is_trained(std::int64_t trial_id) const;
    // That of the newest attempt which trained to the end; nothing where none left one.
    std::optional<Checkpoint> result_checkpoint(std::int64_t trial_id) const;
    // The subset of the keys (base/score_key.h) that its trained model was not scored by, in their order.
    std::vector<std::string> unscored(std::int64_t trial_id, const std::vector<std::string>& keys) const;
    // Whether an attempt at its training validated the model on the way.
    bool was_validated(std::int64_t trial_id) const;
    // How many attempts at its training there were.
    std::int64_t trainings(std::int64_t trial_id) const;
    // The last step of its curve, as the journals that were taken in have it; 0 where they have none.
    std::int64_t last_step(std::int64_t trial_id) const;
    // Errors: missing.
    std::int64_t trial_of(const std::string& config_hash) const;
    bool has_attempt(const std::string& uid) const;
    std::int64_t next_attempt_number(std::int64_t trial_id) const;

    std::int64_t begin_attempt(std::int64_t trial_id, std::int64_t code_id, std::int64_t host_id, const NewAttempt&);
    void set_running(std::int64_t attempt_id, const ProcessIdentity&, std::int64_t started_ms);
    void set_place(std::int64_t attempt_id, const AttemptPlace&);
    // Reads whole new lines of the journal and stores their rows and the new byte offset in one transaction.
    // A torn last line is left for later. Damaged lines are passed over: the others are stored, and then a JournalError
    // names the first one and says how many there were. A journal of another trial, or one shorter than what was read
    // of it before, is a JournalError too, and nothing of this call is stored.
    IngestResult ingest(std::int64_t attempt_id, const std::filesystem::path& journal);
    // On the disk when it returns: what has ended is never done again, even after a power cut.
    void end_attempt(std::int64_t attempt_id, const Outcome&);

    // Attempts still marked leased or running: what a killed driver left.
    std::vector<LiveAttempt> live_attempts() const;

    // All of its results, or none; false where a session of its uid is there already.
    bool add_bench_session(const BenchSession&);

    // All rows of one new baseline, or none. Errors: usage, where a live baseline has that name.
    void pin_baseline(const std::vector<BaselineRow>& rows);
    // How many rows it had. Errors: usage, with the nearest live name; missing, without any.
    std::int64_t retire_baseline(const std::string& name);
    void add_verdicts(const std::vector<VerdictRow>& rows);

    // As merge_evidence().
    std::vector<Merged> merge(const std::vector<NamedEvidence>& texts, const std::string& run_suffix = {});

 private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace deft::results_db
