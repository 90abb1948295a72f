#include "sweeps/driver/recovery.h"

#include <fmt/format.h>

#include "base/first_line.h"
#include "sweeps/driver/below_root.h"

namespace deft::sweeps {

std::optional<results_db::IngestResult> ingest_or_explain(results_db::Writer& writer, std::int64_t attempt,
                                                          const std::filesystem::path& journal, std::string& damage) {
    // A damaged journal is the trial's affair; a database that cannot be written is the sweep's.
    try {
        return writer.ingest(attempt, journal);
    } catch (const results_db::JournalError& error) {
        damage = first_line(error.what());
        return std::nullopt;
    }
}

JournalSummary ingest_rest(results_db::Writer& writer, std::int64_t attempt, const std::filesystem::path& journal) {
    std::string damage;
    const bool whole = ingest_or_explain(writer, attempt, journal, damage).has_value();
    JournalSummary summary = read_journal(journal);
    if (!whole && !summary.damage) summary.damage = damage;
    return summary;
}

results_db::Outcome outcome_of(const JournalSummary& journal, const std::string& unsaid) {
    results_db::Outcome outcome;
    if (journal.damage) {
        outcome = {"failed", "io", {}, {}, *journal.damage, 0, 0};
    } else if (journal.ended && journal.ended->state == "ok") {
        outcome.state = "ok";
    } else if (journal.ended && journal.ended->state == "stopped") {
        outcome = {"preempted", "preempt", {}, {}, "asked to stop; it saved a checkpoint", 0, 0};
    } else if (journal.ended) {
        outcome.state = "failed";
        outcome.fail_class = journal.ended->fail_class.empty() ? "other" : journal.ended->fail_class;
        outcome.error = journal.ended->error;
    } else {
        outcome = {"stale", "stale", {}, {}, unsaid, 0, 0};
    }
    if (journal.ended) {
        outcome.peak_rss_bytes = journal.ended->peak_rss_bytes;
        outcome.cpu_seconds = journal.ended->cpu_seconds;
    }
    outcome.own_seconds = own_seconds(journal);
    return outcome;
}

void record_end(results_db::Writer& writer, std::int64_t attempt, const std::filesystem::path& run_folder,
                results_db::Outcome outcome, const JournalSummary& journal) {
    outcome.own_seconds = own_seconds(journal);
    writer.end_attempt(attempt, outcome);
    if (std::filesystem::is_directory(run_folder)) write_outcome_file(run_folder, outcome);
}

std::vector<std::string> recover(results_db::Writer& writer, const std::filesystem::path& root, int grace_ms) {
    std::vector<std::string> said;
    for (const results_db::LiveAttempt& attempt : writer.live_attempts()) {
        const std::filesystem::path folder = below_root(root, attempt.workdir);
        const std::string name = folder.filename().string();
        // The lock is ours, so no driver waits for this process any more.
        const bool orphan = is_running(attempt.process);
        if (orphan && !end_group(attempt.process, grace_ms))
            throw Error(ErrorKind::database,
                        fmt::format("process {} of an earlier run still trains {} and cannot be ended",
                                    attempt.process.pid, name),
                        fmt::format("end it, as in kill -9 {}, and run again", attempt.process.pid));

        const JournalSummary journal = ingest_rest(writer, attempt.id, folder / "journal.jsonl");
        const results_db::Outcome outcome = outcome_of(journal, "the driver that ran it was killed");
        record_end(writer, attempt.id, folder, outcome, journal);
        said.push_back(fmt::format("{}: left by a driver that was killed{}; now {}", name,
                                   orphan ? ", its process ended" : "", outcome.state));
    }
    return said;
}

}  // namespace deft::sweeps
