#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "results_db/evidence/attempt_record.h"
#include "results_db/evidence/curve_record.h"
#include "results_db/evidence/evidence.h"
#include "results_db/evidence/local_paths.h"
#include "results_db/evidence/places.h"
#include "results_db/evidence/sweep_record.h"
#include "results_db/evidence/trial_record.h"
#include "results_db/open.h"
#include "results_db/sweep_heads.h"

namespace deft::results_db {

namespace {

// Points of a curve, tried in this order until all fits: steps of their own, so that a seed more seldom changes them.
constexpr std::size_t kPoints[] = {64, 48, 40, 32, 28, 24, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2};

struct ListedAttempt {
    std::int64_t id = 0;
    std::string uid;
};

std::vector<ListedAttempt> ended_attempts(Connection& connection, std::int64_t sweep_id) {
    Statement query(connection,
                    "SELECT a.id, a.uid FROM attempt a JOIN experiment e ON e.id = a.experiment_id"
                    " WHERE a.ended_ms IS NOT NULL AND e.id IN (SELECT m.experiment_id FROM sweep_member m"
                    "  WHERE m.sweep_id = ?1) ORDER BY e.config_hash, a.number");
    query.bind(sweep_id);
    std::vector<ListedAttempt> attempts;
    while (query.step()) attempts.push_back({query.integer(0), query.text(1)});
    return attempts;
}

std::int64_t running_attempts(Connection& connection, std::int64_t sweep_id) {
    Statement query(connection,
                    "SELECT count(*) FROM attempt WHERE ended_ms IS NULL AND experiment_id IN (SELECT m.experiment_id"
                    " FROM sweep_member m WHERE m.sweep_id = ?1)");
    query.bind(sweep_id).step();
    return query.integer(0);
}

std::string first_line_of(const SweepHead& sweep, std::size_t points) {
    return evidence_line(
               "evidence",
               {{"schema", kEvidenceSchema},
                {"sweep", full_name(sweep)},
                {"curve_points", points},
                {"note", fmt::format("curves have at most {} points an attempt, thinned where there were more; "
                                     "the results of single documents, the text of diffs and logs are left out",
                                     points)}}) +
           '\n';
}

// What is in a trial's hash cannot be left out of a text, and one that is to be committed is read by others.
void require_no_folders(const Json& trial, const SharedValues& shared, const std::string& file) {
    Json config = shared.at(trial.at("config"));
    if (config.is_object()) config.erase("local");
    const std::string path = an_absolute_path(config);
    if (path.empty()) return;
    throw Error(ErrorKind::usage,
                fmt::format("the configuration of trial {} names {}, a file of this machine, and its hash is of that",
                            short_hash(trial.at("config_hash").get<std::string>()), path),
                fmt::format("name the file by its path from the sweep file and run that, or merge the database itself: "
                            "deft db merge {} --root ROOT",
                            file),
                "the results");
}

struct Curves {
    std::string lines;
    std::size_t points = 0;  // of the longest
};

Curves curves_of(Connection& connection, const std::vector<ListedAttempt>& attempts, std::size_t points) {
    Curves curves;
    for (const ListedAttempt& attempt : attempts) {
        Json record = curve_record(connection, attempt.id, points);
        if (record.is_null()) continue;
        for (const Json& part : record) curves.points = std::max(curves.points, part.at("step").size());
        record["attempt"] = attempt.uid;
        curves.lines += evidence_line("curve", std::move(record)) + '\n';
    }
    return curves;
}

}  // namespace

void require_mergeable(const Evidence& evidence) {
    const auto connection = open_in_memory(evidence.sweep);
    try {
        merge_evidence(*connection, {{evidence.sweep, evidence.text}}, {});
    } catch (const Error& error) {
        throw Error(
            ErrorKind::database,
            fmt::format("the text of {} could not be merged again: {}", evidence.sweep, first_line(error.what())),
            "give what it names another value where the sweep's file or the database has it, and export again",
            "the results");
    }
}

Evidence export_evidence(Connection& connection, const std::string& selector, std::size_t most_bytes) {
    const Transaction snapshot(connection, Transaction::Kind::read);
    const SweepHead sweep = find_sweep(read_sweeps(connection), selector, connection.file());
    Evidence evidence;
    evidence.sweep = full_name(sweep);
    SharedValues shared;
    std::string trials, attempts, verdicts;
    const auto add = [](std::string& lines, const char* kind, Json record) {
        lines += evidence_line(kind, std::move(record)) + '\n';
    };
    for (Json& record : trial_records(connection, sweep.id, shared)) {
        if (most_bytes > 0) require_no_folders(record, shared, connection.file());
        add(trials, "trial", std::move(record));
        ++evidence.trials;
    }
    for (Json& record : place_records(connection, sweep.id, shared)) add(trials, "place", std::move(record));
    const std::vector<ListedAttempt> ended = ended_attempts(connection, sweep.id);
    for (const ListedAttempt& attempt : ended) add(attempts, "attempt", attempt_record(connection, attempt.id, shared));
    evidence.attempts = static_cast<std::int64_t>(ended.size());
    evidence.running = running_attempts(connection, sweep.id);
    for (Json& record : verdict_records(connection, sweep)) add(verdicts, "verdict", std::move(record));
    std::string front;
    add(front, "sweep", sweep_record(connection, sweep.id));
    for (const auto& [id, value] : shared.all()) add(front, "shared", {{"id", id}, {"value", value}});

    const auto with_curves = [&](std::size_t points) {
        const Curves curves = curves_of(connection, ended, points);
        evidence.curve_points = curves.points;
        evidence.text = first_line_of(sweep, curves.points) + front + trials + attempts + curves.lines + verdicts;
        evidence.text += end_line(evidence.text) + '\n';
        return most_bytes == 0 || evidence.text.size() <= most_bytes;
    };
    if (most_bytes == 0) with_curves(0);
    if (most_bytes == 0) return evidence;
    for (const std::size_t points : kPoints)
        if (with_curves(points)) return evidence;
    throw Error(ErrorKind::usage,
                fmt::format("the results of {} take {} bytes with curves of {} points, and a file may have {}",
                            full_name(sweep), evidence.text.size(), evidence.curve_points, most_bytes),
                fmt::format("merge the database itself: deft db merge {} --root ROOT", connection.file()));
}

}  // namespace deft::results_db
