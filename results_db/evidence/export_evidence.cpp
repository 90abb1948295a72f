#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "results_db/evidence/attempt_record.h"
#include "results_db/evidence/curve_record.h"
#include "results_db/evidence/evidence.h"
#include "results_db/evidence/local_paths.h"
#include "results_db/evidence/parts.h"
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
    Json record = {{"schema", kEvidenceSchema},
                   {"sweep", full_name(sweep)},
                   {"curve_points", points},
                   {"note", fmt::format("{}curves have at most {} points an attempt, thinned where there were more; "
                                        "the results of single documents, the text of diffs and logs are left out",
                                        of_parts, points)}};
    if (part.of > 1) record.update({{"part", part.number}, {"parts", part.of}});
    return evidence_line("evidence", std::move(record)) + '\n';
}

// Values that enter a trial's hash cannot be left out of a text, and a committed text is read by others.
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

std::vector<NamedEvidence> named(const std::vector<Evidence>& parts) {
    std::vector<NamedEvidence> texts;
    for (std::size_t i = 0; i < parts.size(); ++i)
        texts.push_back(
            {parts.size() > 1 ? fmt::format("part {} of {}", i + 1, parts.size()) : parts[i].sweep, parts[i].text});
    return texts;
}

// The part that has these trials, with the longest curves that fit; with the shortest, and too long, where none do.
Evidence part_of(Connection& connection, const SweepHead& sweep, EvidencePart part, const std::set<std::string>& hashes,
                 std::size_t most_bytes) {
    Evidence evidence;
    evidence.sweep = full_name(sweep);
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
        if (with_curves(points)) break;
    return evidence;
}

// A database of all of them. Errors: as require_mergeable().
std::unique_ptr<Connection> merged_again(const std::vector<Evidence>& parts) {
    const std::string sweep = parts.empty() ? std::string() : parts.front().sweep;
    std::unique_ptr<Connection> connection = open_in_memory(sweep);
    try {
        merge_evidence(*connection, named(parts), {});
    } catch (const Error& error) {
        throw Error(ErrorKind::database,
                    fmt::format("the text of {} could not be merged again: {}", sweep, first_line(error.what())),
                    "give what it names another value where the sweep's file or the database has it, and export again",
                    "the results");
    }
    return connection;
}

// The newest of several trials of one place is shown, and the import must show the same.
void require_same_table(Connection& merged, const std::vector<KnownPlace>& places, const Evidence& part) {
    const std::vector<KnownPlace> again = known_places(merged, read_sweeps(merged).front().id);
    const auto is_same = [](const KnownPlace& a, const KnownPlace& b) {
        return a.config_hash == b.config_hash && a.row == b.row && a.seeds == b.seeds;
    };
    if (std::equal(places.begin(), places.end(), again.begin(), again.end(), is_same)) return;
    throw Error(ErrorKind::usage, fmt::format("these parts of {} would not give its table again", part.sweep),
                "ask for another number of parts, or merge the database itself with deft db merge", "the results");
}

// A sweep that is exported as parts.
class Export {
 public:
    Export(Connection& connection, const std::string& selector, std::size_t most_bytes)
        : connection_(connection),
          sweep_(find_sweep(read_sweeps(connection), selector, connection.file())),
          places_(known_places(connection, sweep_.id)),
          most_bytes_(most_bytes) {}

    // Errors: usage, for a part that is too long.
    std::vector<Evidence> parts(std::size_t count) const {
        std::vector<Evidence> parts = parts_until_too_long(count);
        if (is_too_long(parts.back())) fail_too_long(parts, count);
        return parts;
    }

    // That the parts can be merged, and give the table again. Errors: as merged_again(); usage.
    void require_whole(const std::vector<Evidence>& parts) const {
        const auto merged = merged_again(parts);
        if (parts.size() > 1) require_same_table(*merged, places_, parts.front());
    }

 private:
    bool is_too_long(const Evidence& part) const { return most_bytes_ > 0 && part.text.size() > most_bytes_; }

    std::vector<Evidence> parts_until_too_long(std::size_t count) const {
        std::vector<Evidence> parts;
        for (const std::set<std::string>& hashes : hashes_of_parts(places_, count)) {
            parts.push_back(part_of(connection_, sweep_, {parts.size() + 1, count}, hashes, most_bytes_));
            if (is_too_long(parts.back())) break;
        }
        return parts;
    }

    // A number of parts that was tried. Nothing where a single trial is too long.
    std::optional<std::size_t> parts_that_fit(std::size_t least) const {
        for (std::size_t count = least; count <= most_parts(places_); count += 1 + count / 10) {
            const std::vector<Evidence> parts = parts_until_too_long(count);
            if (is_too_long(parts.back())) continue;
            try {
                require_whole(parts);
                return count;
            } catch (const Error&) {
                return std::nullopt;
            }
        }
        return std::nullopt;
    }

    [[noreturn]] void fail_too_long(const std::vector<Evidence>& parts, std::size_t count) const {
        const Evidence& part = parts.back();
        const auto fitting = parts_that_fit(std::max(count + 1, count * part.text.size() / most_bytes_));
        throw Error(ErrorKind::usage,
                    fmt::format("{} of {} take {} bytes with curves of {} points, and a file may have {}",
                                count > 1 ? fmt::format("part {} of the results", parts.size()) : "the results",
                                full_name(sweep_), part.text.size(), part.curve_points, most_bytes_),
                    fmt::format("{}merge the database itself: deft db merge {} --root ROOT",
                                fitting ? fmt::format("write it as several texts with --parts {}, or ", *fitting) : "",
                                connection_.file()));
    }

    Connection& connection_;
    SweepHead sweep_;
    std::vector<KnownPlace> places_;
    std::size_t most_bytes_;
};

}  // namespace

void require_mergeable(const std::vector<Evidence>& parts) {
    merged_again(parts);
}

Evidence export_evidence(Connection& connection, const std::string& selector, std::size_t most_bytes) {
    const Transaction snapshot(connection, Transaction::Kind::read);
    return Export(connection, selector, most_bytes).parts(1).front();
}

std::vector<Evidence> export_parts(Connection& connection, const std::string& selector, std::size_t count,
                                   std::size_t most_bytes) {
    const Transaction snapshot(connection, Transaction::Kind::read);
    const Export exported(connection, selector, most_bytes);
    std::vector<Evidence> parts = exported.parts(count);
    exported.require_whole(parts);
    return parts;
}

}  // namespace deft::results_db
