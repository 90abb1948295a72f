#pragma once
// One sweep's results as a text that is small enough to be committed: what `deft db export` writes and `deft db merge`
// takes in. A line is one record in canonical JSON, so that a seed more is lines more. Each line ends with a check of
// itself and the file with one of all lines; values that many records share are stored once, under a content hash.
//
//   evidence   what the file is, and how its curves were thinned
//   sweep      the sweep's file and options, and what it was to be judged by
//   shared     {"id", "value"}: a configuration without its seed, a machine and program, what a score is of
//   trial      one configuration and seed
//   place      position of a trial in the sweep
//   attempt    one that has ended: scores, counts, times, cost, checkpoint hashes
//   curve      of an attempt, thinned
//   verdict    on a claim
//   end        how many lines, and the sha256 of their bytes

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace deft::results_db {

class Connection;

// Version of the records above. Raised when a record's content or meaning changes, independent of a database's schema.
// 2: how long attempts held their slots, and what they had spent when something was on the disk. Texts of 1 are read as
// well: what they lack is unknown.
inline constexpr std::int64_t kEvidenceSchema = 2, kOldestEvidenceSchema = 1;
// A committed file is read by people, in diffs too.
inline constexpr std::size_t kMostEvidenceBytes = 300'000;
// A file that is read from a disk may be somebody else's.
inline constexpr std::size_t kMostReadBytes = std::size_t{16} << 20;

// The texts that one sweep is written as (results_db/evidence/parts.h).
inline constexpr std::size_t kMostParts = 9999;
struct EvidencePart {
    std::size_t number = 1, of = 1;
};

struct Evidence {
    std::string text;
    std::string sweep;             // "gpt_combined@0123456789ab"
    std::size_t curve_points = 0;  // of the longest curve
    std::int64_t trials = 0, attempts = 0;
    std::int64_t running = 0;  // attempts that have not ended, which are left out
};

// The sweep as `selector` names it (results_db/sweep_heads.h). The same database gives the same bytes. Curves have at
// most as many points as fit; most_bytes 0: all of them. Errors: missing; usage, where all but the curves is too long
// already; and a configuration that names a file by an absolute path, in a text that is not of all.
Evidence export_evidence(Connection& connection, const std::string& selector,
                         std::size_t most_bytes = kMostEvidenceBytes);

// As `count` texts, which give the same table when one merge takes all of them. Errors: as above, of each, with a
// number of parts that fit; usage, for more parts than trials; database, as require_mergeable().
std::vector<Evidence> export_parts(Connection& connection, const std::string& selector, std::size_t count,
                                   std::size_t most_bytes = kMostEvidenceBytes);

// Errors: database, where merge_evidence() would refuse the texts, as of a database that was changed by hand.
void require_mergeable(const std::vector<Evidence>& parts);

// Description in the first line of how curves were thinned and which are left out; empty where there is none.
std::string evidence_note(const std::string& text);

// A text and where it is from, for messages.
struct NamedEvidence {
    std::string name, text;
};

// Sweeps with some parts missing from the texts, a line each.
std::vector<std::string> lacking_parts(const std::vector<NamedEvidence>& texts);

// Changes made by merging one text.
struct Merged {
    std::string sweep;                  // the sweep that its trials are in now
    bool is_joined = false;             // that sweep was run with other seeds, and has these as well now
    std::set<std::int64_t> seeds = {};  // of the places that were added
    std::int64_t places = 0, trials = 0, attempts = 0, verdicts = 0;  // added
    std::int64_t points = 0;  // steps of curves, of attempts that were there with fewer
    std::int64_t known = 0;   // attempts that were there already, with the same numbers
    // The day that the sweep first ran on is another one than was known, and so is what it was to be judged by then.
    bool has_changed_first_run = false;

    bool is_nothing() const { return places + trials + attempts + verdicts + points == 0 && !has_changed_first_run; }
};

// Adds what the texts have and the database lacks: all of it, or nothing. `run_suffix` is appended to the commands of
// sweeps that are new, as in " --root my-runs". Errors: database, with file and line: text that does not match its
// hashes, is of another schema, cut short, not of this form, or not what the database would give back; an attempt that
// the database, or another of the texts, has with other numbers; another run of a trial, other claims of the same first
// run, another verdict of one check, or a configuration that the other seeds of its row do not have.
std::vector<Merged> merge_evidence(Connection& connection, const std::vector<NamedEvidence>& texts,
                                   const std::string& run_suffix);

}  // namespace deft::results_db
