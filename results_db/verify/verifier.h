#pragma once
// A results database beside its own rules and the journals that its rows came from. Faults are listed, and nothing is
// changed.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace deft::results_db {

enum class FaultKind {
    database,  // damaged pages, rules of the schema that are absent, rows that break them
    trial,     // a configuration that does not have its hash
    journal,   // rows that the journal does not give, or the reverse
    curve,     // steps that no point covers
    artifact,  // a file that is absent, or differs from its record
    folder,    // a run folder or checkpoint that the database does not know
};

struct Fault {
    FaultKind kind = FaultKind::database;
    std::string subject;  // "plain/1, attempt 2", or a table or file
    std::string what;
};

// An attempt that ran here: one that was merged from evidence has no files.
struct VerifiedAttempt {
    std::int64_t id = 0;
    std::string name;         // "plain/1, attempt 2"
    std::string workdir;      // relative to the root
    std::string config_hash;  // of its trial
    std::string state;
    bool is_live = false, trains = false;
    std::int64_t read_bytes = 0;   // of its journal
    std::int64_t resume_step = 0;  // of the checkpoint that it resumed from; 0: it began at the start
};

// A file that an attempt recorded.
struct RecordedFile {
    std::string path;  // relative to the root
    std::string sha256, attempt;
    std::int64_t bytes = 0;
};

// A driver may go on to write the database: each function reads a snapshot of its own, and none outlives the call.
class Verifier {
 public:
    // Errors: those of Reader.
    explicit Verifier(const std::filesystem::path& file);
    ~Verifier();
    Verifier(const Verifier&) = delete;
    Verifier& operator=(const Verifier&) = delete;

    // Pages, schema, foreign keys, one live attempt per trial. Damaged pages may make the other functions fail.
    std::vector<Fault> database_faults();
    std::vector<Fault> trial_faults();
    // A finished trial's curve ends at its last step.
    std::vector<Fault> curve_faults();

    // In the order of trials and numbers.
    std::vector<VerifiedAttempt> attempts();
    std::int64_t merged_attempts();
    // Rows of the attempt beside those that its journal gives, read again up to where the database has read it. Errors:
    // io, for a journal that cannot be read.
    std::vector<Fault> journal_faults(const VerifiedAttempt& attempt, const std::filesystem::path& journal);
    std::int64_t compared_rows() const;  // so far
    // Steps of its training points, ascending.
    std::vector<std::int64_t> steps(const VerifiedAttempt& attempt);

    // The files that the newest finished training of each trial recorded.
    std::vector<RecordedFile> files();
    std::vector<std::string> config_hashes();       // of all trials
    std::vector<std::string> live_config_hashes();  // of those with a live attempt

 private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace deft::results_db
