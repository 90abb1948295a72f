#include "sweeps/driver/recovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/stopwatch.h"
#include "base/text.h"
#include "reporting/text.h"
#include "results_db/writer.h"
#include "sweeps/driver/claim.h"
#include "sweeps/driver/root.h"
#include "sweeps/driver/stop_file.h"
#include "sweeps/driver/trial_process.h"

namespace deft::sweeps {

namespace {

namespace fs = std::filesystem;

struct LeftFolder {
    fs::path path;
    TrialOrigin origin;
    JournalSummary journal;
};

// The folders below <root>/runs by the configuration that they are of.
std::map<std::string, std::vector<fs::path>> folders_by_hash(const fs::path& root) {
    std::map<std::string, std::vector<fs::path>> folders;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(root / "runs", none))
        if (entry.is_directory(none))
            if (const auto origin = read_origin(entry.path())) folders[origin->config_hash].push_back(entry.path());
    return folders;
}

// Attempts of a trial that the database does not know, in their order.
std::vector<LeftFolder> left_of(const results_db::Writer& writer, const Trial& trial,
                                const std::vector<fs::path>& paths) {
    std::vector<LeftFolder> left;
    for (const fs::path& path : paths) {
        const auto origin = read_origin(path);
        if (!origin || origin->config_hash != trial.config_hash || writer.has_attempt(origin->attempt.uid)) continue;
        left.push_back({path, *origin, read_journal(path / "journal.jsonl")});
    }
    std::sort(left.begin(), left.end(), [](const LeftFolder& a, const LeftFolder& b) {
        return a.origin.attempt.number < b.origin.attempt.number;
    });
    return left;
}

// The driver saw more of an end than the journal has, but only a whole journal says that a trial ended well.
bool agree(const results_db::Outcome& seen, const results_db::Outcome& journal_says, const JournalSummary& journal) {
    return (seen.state == "ok") == (journal_says.state == "ok") || (!journal.ended && !journal.damage);
}

// An attempt that a batch system or a hostfile placed says in its claim where it is.
void record_place(results_db::Writer& writer, std::int64_t attempt, const fs::path& run_folder) {
    const std::optional<Claim> claim = read_claim(run_folder);
    if (claim && claim->machine) writer.set_place(attempt, {*claim->machine, claim->job, claim->nodes});
}

void take_in(results_db::Writer& writer, std::int64_t trial_id, const LeftFolder& folder) {
    results_db::NewAttempt attempt = folder.origin.attempt;
    attempt.number = std::max(attempt.number, writer.next_attempt_number(trial_id));
    attempt.worker = "taken in";
    const std::int64_t id = writer.begin_attempt(trial_id, writer.add_code(folder.origin.code),
                                                 writer.add_host(folder.origin.host), attempt);
    if (folder.journal.started) writer.set_running(id, {}, began_ms(*folder.journal.started));
    const JournalSummary journal = ingest_rest(writer, id, folder.path / "journal.jsonl");
    results_db::Outcome outcome = outcome_of(journal, "its end was not recorded");
    if (journal.ended) outcome.ended_ms = journal.ended->time_ms;
    const auto seen = read_outcome_file(folder.path);
    if (seen && agree(*seen, outcome, journal)) outcome = *seen;
    record_place(writer, id, folder.path);
    writer.end_attempt(id, outcome);
}

}  // namespace

results_db::Outcome outcome_of(const JournalSummary& journal, const std::string& unsaid) {
    results_db::Outcome outcome;
    if (journal.damage) {
        outcome = {"failed", "io", {}, {}, *journal.damage, 0, 0};
    } else if (journal.ended && journal.ended->state == "ok") {
        outcome.state = "ok";
    } else if (journal.ended && journal.ended->state == "stopped") {
        outcome = {"preempted", "preempt", {}, {}, "asked to stop; what it had done is kept", 0, 0};
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
    outcome.held_seconds = held_seconds(journal);
    return outcome;
}

Ingested ingest_or_explain(results_db::Writer& writer, std::int64_t attempt, const fs::path& journal) {
    // A damaged journal fails one trial. A database that cannot be written ends the sweep, so that error goes on.
    try {
        return {writer.ingest(attempt, journal), "", false};
    } catch (const results_db::ShorterJournal& error) {
        return {std::nullopt, first_line(error.what()), true};
    } catch (const results_db::JournalError& error) {
        return {std::nullopt, first_line(error.what()), false};
    }
}

JournalSummary ingest_rest(results_db::Writer& writer, std::int64_t attempt, const fs::path& journal) {
    const Ingested ingested = ingest_or_explain(writer, attempt, journal);
    JournalSummary summary = read_journal(journal);
    if (!ingested.fresh && !summary.damage) summary.damage = ingested.damage;
    summary.is_shorter = ingested.is_shorter;
    return summary;
}

void record_end(results_db::Writer& writer, std::int64_t attempt, const fs::path& run_folder,
                results_db::Outcome outcome, const JournalSummary& journal) {
    outcome.own_seconds = own_seconds(journal);
    if (outcome.ended_ms == 0) outcome.ended_ms = now_ms();
    record_place(writer, attempt, run_folder);
    writer.end_attempt(attempt, outcome);
    if (fs::is_directory(run_folder)) write_outcome_file(run_folder, outcome);
}

std::vector<std::string> recover(results_db::Writer& writer, const fs::path& root, int grace_ms,
                                 const std::set<std::int64_t>& kept) {
    std::vector<std::string> said;
    for (const results_db::LiveAttempt& attempt : writer.live_attempts()) {
        if (kept.contains(attempt.id)) continue;
        const fs::path folder = below_root(root, attempt.workdir);
        const std::string name = folder.filename().string();
        // The lock is ours, so no driver waits for this process any more.
        const bool orphan = is_running(attempt.process);
        if (orphan && !end_group(attempt.process, grace_ms))
            throw Error(ErrorKind::database,
                        fmt::format("process {} of an earlier run still works on {} and cannot be ended",
                                    attempt.process.pid, name),
                        fmt::format("end it, as in kill -9 {}, and run again", attempt.process.pid));

        // On another machine it may still run, and would hold its cores to the end.
        if (const std::optional<Claim> claim = read_claim(folder); claim && claim->machine) write_stop_file(folder);
        const JournalSummary journal = ingest_rest(writer, attempt.id, folder / "journal.jsonl");
        const results_db::Outcome outcome = outcome_of(journal, "the driver that ran it was killed");
        record_end(writer, attempt.id, folder, outcome, journal);
        said.push_back(fmt::format("{}: left by a driver that was killed{}; now {}", name,
                                   orphan ? ", its process ended" : "", outcome.state));
    }
    return said;
}

std::vector<std::string> take_in_folders(results_db::Writer& writer, const fs::path& root,
                                         const std::vector<Trial>& trials, std::span<const std::size_t> wanted,
                                         const RecordedSweep& recorded) {
    std::vector<std::string> said;
    const bool all_trained = std::all_of(wanted.begin(), wanted.end(),
                                         [&](std::size_t i) { return writer.is_trained(recorded.trial_ids[i]); });
    if (all_trained) return said;  // before every folder is looked at
    const auto folders = folders_by_hash(root);
    for (const std::size_t i : wanted) {
        const auto found = folders.find(trials[i].config_hash);
        if (found == folders.end() || writer.is_trained(recorded.trial_ids[i])) continue;
        const std::vector<LeftFolder> left = left_of(writer, trials[i], found->second);
        if (left.empty()) continue;
        for (const LeftFolder& folder : left) take_in(writer, recorded.trial_ids[i], folder);
        said.push_back(fmt::format("taken in {}: {} in {}, which the database did not know",
                                   reporting::visible(trials[i].name()),
                                   writer.is_trained(recorded.trial_ids[i]) ? "finished before" : "left unfinished",
                                   left.back().path.filename().string()));
    }
    return said;
}

}  // namespace deft::sweeps
