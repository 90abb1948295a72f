#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
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

// The trials of a part: the first of every row, then the second ones, and so on, cut into parts of one size. A row's first
// trials are all in the first part, which so tells the order of the rows.
std::set<std::string> hashes_of_part(const std::vector<KnownPlace>& places, EvidencePart part) {
    std::map<std::string, std::pair<std::size_t, std::size_t>> order;  // number in its row and place, the earliest ones
    std::map<Json, std::size_t> in_row;
    for (std::size_t place = 0; place < places.size(); ++place) {
        const std::pair at(in_row[places[place].row]++, place);
        const auto [found, fresh] = order.emplace(places[place].config_hash, at);
        if (!fresh) found->second = std::min(found->second, at);
    }
    const std::size_t most = std::max<std::size_t>(1, in_row.empty() ? 1 : order.size() / in_row.size());
    if (part.number < 1 || part.number > part.of || part.of > most)
        throw Error(ErrorKind::usage,
                    fmt::format("{} in {} cannot be {} parts with a trial of every row in the first",
                                counted(order.size(), "trial"), counted(in_row.size(), "row"), part.of),
                    fmt::format("ask for {} at most", counted(most, "part")));
    std::vector<std::string> hashes;
    for (const auto& [hash, at] : order) hashes.push_back(hash);
    std::sort(hashes.begin(), hashes.end(),
              [&](const std::string& a, const std::string& b) { return order.at(a) < order.at(b); });
    const auto begin_of = [&](std::size_t number) {
        return hashes.begin() + static_cast<std::ptrdiff_t>(hashes.size() * number / part.of);
    };
    return {begin_of(part.number - 1), begin_of(part.number)};
}

std::vector<ListedAttempt> ended_attempts(Connection& connection, std::int64_t sweep_id,
                                          const std::set<std::string>& hashes) {
    Statement query(connection,
                    "SELECT a.id, a.uid, e.config_hash FROM attempt a JOIN experiment e ON e.id = a.experiment_id"
                    " WHERE a.ended_ms IS NOT NULL AND e.id IN (SELECT m.experiment_id FROM sweep_member m"
                    "  WHERE m.sweep_id = ?1) ORDER BY e.config_hash, a.number");
    query.bind(sweep_id);
    std::vector<ListedAttempt> attempts;
    while (query.step())
        if (hashes.contains(query.text(2))) attempts.push_back({query.integer(0), query.text(1)});
    return attempts;
}

std::int64_t running_attempts(Connection& connection, std::int64_t sweep_id) {
    Statement query(connection,
                    "SELECT count(*) FROM attempt WHERE ended_ms IS NULL AND experiment_id IN (SELECT m.experiment_id"
                    " FROM sweep_member m WHERE m.sweep_id = ?1)");
    query.bind(sweep_id).step();
    return query.integer(0);
}

std::string first_line_of(const SweepHead& sweep, std::size_t points, EvidencePart part) {
    const std::string of_parts =
        part.of > 1 ? fmt::format("part {} of {}, the other trials are in the others; ", part.number, part.of) : "";
    return evidence_line(
               "evidence",
               {{"schema", kEvidenceSchema},
                {"sweep", full_name(sweep)},
                {"curve_points", points},
                {"note", fmt::format("{}curves have at most {} points an attempt, thinned where there were more; "
                                     "the results of single documents, the text of diffs and logs are left out",
                                     of_parts, points)}}) +
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

void require_mergeable(const std::vector<Evidence>& parts) {
    const std::string sweep = parts.empty() ? std::string() : parts.front().sweep;
    const auto connection = open_in_memory(sweep);
    std::vector<NamedEvidence> texts;
    for (const Evidence& part : parts) texts.push_back({part.sweep, part.text});
    try {
        merge_evidence(*connection, texts, {});
    } catch (const Error& error) {
        throw Error(
            ErrorKind::database,
            fmt::format("the text of {} could not be merged again: {}", sweep, first_line(error.what())),
            "give what it names another value where the sweep's file or the database has it, and export again",
            "the results");
    }
}

Evidence export_evidence(Connection& connection, const std::string& selector, std::size_t most_bytes, EvidencePart part) {
    const Transaction snapshot(connection, Transaction::Kind::read);
    const SweepHead sweep = find_sweep(read_sweeps(connection), selector, connection.file());
    Evidence evidence;
    evidence.sweep = full_name(sweep);
    const std::set<std::string> hashes = hashes_of_part(known_places(connection, sweep.id), part);
    SharedValues shared;
    std::string trials, attempts, verdicts;
    const auto add = [](std::string& lines, const char* kind, Json record) {
        lines += evidence_line(kind, std::move(record)) + '\n';
    };
    for (Json& record : trial_records(connection, sweep.id, hashes, shared)) {
        if (most_bytes > 0) require_no_folders(record, shared, connection.file());
        add(trials, "trial", std::move(record));
        ++evidence.trials;
    }
    for (Json& record : place_records(connection, sweep.id, hashes, shared)) add(trials, "place", std::move(record));
    const std::vector<ListedAttempt> ended = ended_attempts(connection, sweep.id, hashes);
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
        evidence.text = first_line_of(sweep, curves.points, part) + front + trials + attempts + curves.lines + verdicts;
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
                fmt::format("write it as several: --parts {}; or merge the database itself: deft db merge {} --root ROOT",
                            part.of + evidence.text.size() / most_bytes, connection.file()));
}

}  // namespace deft::results_db
