#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "results_db/evidence/attempt_record.h"
#include "results_db/evidence/columns.h"
#include "results_db/evidence/curve_record.h"
#include "results_db/evidence/evidence.h"
#include "results_db/evidence/places.h"
#include "results_db/evidence/sweep_record.h"
#include "results_db/evidence/trial_record.h"
#include "results_db/stored_configuration.h"
#include "results_db/sweep_heads.h"

namespace deft::results_db {

namespace {

constexpr const char* kKinds[] = {"evidence", "sweep", "shared",  "trial", "place",
                                  "attempt",  "curve", "verdict", "end"};

constexpr std::size_t kMostUnfoldedBytes = std::size_t{64} << 20;

struct StoredAttempt {
    std::int64_t id = 0, code_id = 0;
    bool is_new = false;
};

// The position of each attempt's record in a text that was merged before, by uid, for messages.
using Origins = std::map<std::string, std::string>;

// The rows of a sweep that comes as parts: one part alone does not have all of them in their order.
struct RowsOfParts {
    std::vector<Json> before;            // of the sweep as it was
    std::map<std::int64_t, Json> fresh;  // as the exported table numbers them
    bool agree = true;                   // the parts are of one table
};
using RowsBySweep = std::map<std::int64_t, RowsOfParts>;

class Merge {
 public:
    Merge(Connection& connection, const NamedEvidence& evidence, const std::string& run_suffix, Origins& origins)
        : connection_(connection),
          name_(evidence.name),
          run_suffix_(run_suffix),
          origins_(origins),
          lines_(read_evidence_lines(evidence.text, evidence.name)) {}

    Merged run() {
        each({}, [&](const EvidenceLine& line) {
            if (std::find(std::begin(kKinds), std::end(kKinds), line.kind) == std::end(kKinds))
                throw BadRecord{fmt::format("a record of the unknown kind '{}'", line.kind)};
            const bool is_end = &line == &lines_.back();
            if ((line.kind == "evidence" && line.number != 1) || (line.kind == "end" && !is_end))
                throw BadRecord{fmt::format("a record '{}' in the middle of the file", line.kind)};
        });
        each("shared", [&](const EvidenceLine& line) { shared_.take(line.record); });
        each("attempt", [&](const EvidenceLine& line) { uids_.insert(text_at(line.record, "uid")); });
        each("trial", [&](const EvidenceLine& line) { take_trial(line.record); });
        for (const std::int64_t trial : known_) require_own_hashes(connection_, trial);  // the text is right
        each("place", [&](const EvidenceLine& line) {
            const KnownPlace place = place_in(line.record);
            const TakenTrial& trial = trial_of(line.record, "trial");
            if (trial.is_trained && !place.seeds.empty() && place.seeds.back() != trial.seed)
                throw BadRecord{
                    fmt::format("its 'seeds' end in {}, and its trial has seed {}", place.seeds.back(), trial.seed)};
        });
        each("sweep", [&](const EvidenceLine& line) { take_sweep(line.record); });
        if (sweep_ == 0) fail(1, "the file has no sweep");
        take_places();
        each("trial", [&](const EvidenceLine& line) {
            if (!placed_.contains(text_at(line.record, "config_hash")))
                throw BadRecord{"the trial is not in the sweep: the file has no place for it"};
        });
        each("attempt", [&](const EvidenceLine& line) { take_attempt(line); });
        each("curve", [&](const EvidenceLine& line) { take_curve(line.record); });
        each("verdict", [&](const EvidenceLine& line) {
            if (store_verdict(connection_, sweep_name_, line.record)) ++merged_.verdicts;
        });
        require_same_models();
        require_baseline();
        require_all_shared_used();
        for (const SweepHead& head : read_sweeps(connection_))
            if (head.id == sweep_) merged_.sweep = full_name(head);
        return std::move(merged_);
    }

    // After run().
    void add_rows(RowsBySweep& sweeps) const {
        if (!lines_.front().record.contains("parts")) return;
        const auto [sweep, fresh] = sweeps.try_emplace(sweep_);
        if (fresh) sweep->second.before = rows_before_;
        for (const auto& [number, row] : rows_by_number_) {
            const auto [found, added] = sweep->second.fresh.emplace(number, row);
            sweep->second.agree = sweep->second.agree && found->second == row;
        }
    }

 private:
    [[noreturn]] void fail(int line, const std::string& what, const std::string& fix = {}) const {
        fail_in_evidence(name_, line, what, fix);
    }

    // Errors in the record are reported with its line.
    template <class Action>
    void take(const EvidenceLine& line, const Action& action) const {
        try {
            action(line);
        } catch (const BadRecord& bad) {
            fail(line.number, bad.why, bad.fix);
        } catch (const Json::exception& error) {  // of a value that no check above has looked at
            fail(line.number, fmt::format("the record cannot be read: {}", error.what()));
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::database) throw;  // a full disk is not an error in the line
            fail(line.number, words_of(error));
        }
    }

    // SQLite's message for a value that a table rejects, without the name of the database file.
    std::string words_of(const Error& error) const {
        const std::string words = first_line(error.what()), before = connection_.file() + ": ";
        const std::size_t at = words.find(before);
        if (at == std::string::npos || words.find("constraint failed") == std::string::npos) return words;
        return "a value in it is none that deft writes: " + words.substr(at + before.size());
    }

    // One part of several may have none of its trials.
    void require_baseline() const {
        if (lines_.front().record.contains("parts")) return;
        each("sweep", [&](const EvidenceLine& line) {
            const std::string baseline = text_or_empty(line.record, "baseline");
            const std::vector<KnownPlace> places = known_places(connection_, sweep_);
            const auto is_of_it = [&](const KnownPlace& place) {
                return place.row.at(1).get<std::string>() == baseline;
            };
            if (!baseline.empty() && std::none_of(places.begin(), places.end(), is_of_it))
                throw BadRecord{
                    fmt::format("its 'baseline' is {}, and no recipe of the sweep has that name", baseline)};
        });
    }

    // Ids are texts in the records and in the shared values.
    void require_all_shared_used() const {
        std::set<std::string> texts;
        for (const EvidenceLine& line : lines_)
            if (line.kind != "shared") add_texts(line.record, texts);
        each("shared", [&](const EvidenceLine& line) {
            if (!texts.contains(text_at(line.record, "id"))) throw BadRecord{"no record has this shared value"};
        });
    }

    static void add_texts(const Json& value, std::set<std::string>& texts) {
        if (value.is_string()) texts.insert(value.get<std::string>());
        if (value.is_structured())
            for (const Json& item : value) add_texts(item, texts);
    }

    // Records of one kind, or all, in the order of the file.
    template <class Action>
    void each(const std::string& kind, const Action& action) const {
        for (const EvidenceLine& line : lines_)
            if (kind.empty() || line.kind == kind) take(line, action);
    }

    void take_trial(const Json& record) {
        const std::string& hash = text_at(record, "config_hash");
        if (trials_.contains(hash)) throw BadRecord{"the file lists the trial twice"};
        const std::optional<std::int64_t> known = trial_of_hash(connection_, hash);
        const Json config = checked_config(record, shared_);
        if (known) known_.push_back(*known);
        trials_[hash] = {known ? *known : store_trial(connection_, record, config), text_at(record, "variant_hash"),
                         record.at("seed").get<std::int64_t>(), is_trained(config)};
        if (!known) ++merged_.trials;
    }

    struct TakenTrial {
        std::int64_t trial_id = 0;
        std::string variant_hash;
        std::int64_t seed = 0;
        bool is_trained = true;  // or taken as it is, whatever the seed
    };

    const TakenTrial& trial_of(const Json& record, const char* key) const {
        const auto found = trials_.find(text_at(record, key));
        if (found == trials_.end()) throw BadRecord{"the file does not have its trial"};
        return found->second;
    }

    void take_sweep(const Json& record) {
        if (sweep_ != 0) throw BadRecord{"the file has a second sweep"};
        require_sweep(record);
        sweep_name_ = text_at(record, "name");
        const std::string name = sweep_name_ + "@" + short_hash(text_at(record, "spec_sha256"));
        if (const Json& stated = lines_.front().record.at("sweep"); stated != name)
            throw BadRecord{fmt::format("its sweep is {}, and the first line's 'sweep' is {}", name, stated.dump())};
        for (const SweepHead& head : read_sweeps(connection_))
            if (head.name == sweep_name_ && head.spec_sha256 == text_at(record, "spec_sha256")) sweep_ = head.id;
        if (sweep_ != 0) require_same_sweep(record);
        if (sweep_ == 0) join(record);
        if (sweep_ == 0) {
            sweep_ = store_sweep(connection_, record, run_suffix_);
            return;
        }
        shown_before_ = shown_variants(connection_, sweep_);
        merged_.has_changed_first_run = store_first_run(connection_, sweep_, record);
    }

    void require_same_sweep(const Json& record) const {
        const Json known = sweep_record(connection_, sweep_);
        const std::string key = differing_key(known, record);
        if (key.empty()) return;
        const auto value = [&](const Json& one) { return one.contains(key) ? one.at(key).dump() : "nothing"; };
        throw BadRecord{fmt::format("its '{}' is {}, and {} has {} for a sweep of that 'spec_sha256'", key,
                                    value(record), connection_.file(), value(known)),
                        "find out which of the two was changed, and merge the other"};
    }

    // A row of a table is the mean over its seeds, which says something of one configuration alone.
    void require_same_models() const {
        if (shown_before_.empty()) return;
        const auto shown = shown_variants(connection_, sweep_);
        each("place", [&](const EvidenceLine& line) {
            const KnownPlace place = place_in(line.record);
            const auto before = shown_before_.find(place.row), after = shown.find(place.row);
            if (before == shown_before_.end() || after == shown.end() || after->second.size() < 2) return;
            const std::string& variant = trial_of(line.record, "trial").variant_hash;
            if (before->second.contains(variant) || !after->second.contains(variant)) return;
            throw BadRecord{
                fmt::format("its trial has another configuration ('variant_hash' {}) than the other seeds of"
                            " its row of the table in {}, {}",
                            short_hash(variant), connection_.file(), short_hash(*before->second.begin())),
                "its model, its data or the program is another one: merge the file into a root of its own"};
        });
    }

    // The newest sweep of that name that is this one but for its seeds.
    void join(const Json& record) {
        for (const SweepHead& head : read_sweeps(connection_))
            if (sweep_ == 0 && head.name == text_at(record, "name") &&
                differ_in_seeds_alone(sweep_record(connection_, head.id), record) && has_same_rows(head.id)) {
                sweep_ = head.id;
                merged_.is_joined = true;
            }
    }

    // Whether the rows that both have are of one configuration in both.
    bool has_same_rows(std::int64_t sweep_id) const {
        std::map<Json, std::string> variants;
        for (const KnownPlace& place : known_places(connection_, sweep_id)) variants[place.row] = place.variant_hash;
        bool is_same = true;
        each("place", [&](const EvidenceLine& line) {
            const KnownPlace place = place_in(line.record);
            const auto found = variants.find(place.row);
            is_same =
                is_same && (found == variants.end() || found->second == trial_of(line.record, "trial").variant_hash);
        });
        return is_same;
    }

    void take_places() {
        const std::vector<KnownPlace> known = known_places(connection_, sweep_);
        rows_before_ = rows_in_order(known);
        std::vector<const EvidenceLine*> fresh;
        std::set<Json> taken;  // trials with their places
        each("place", [&](const EvidenceLine& line) {
            const KnownPlace place = place_in(line.record);
            const TakenTrial& trial = trial_of(line.record, "trial");
            rows_by_number_.emplace(line.record.at("row").get<std::int64_t>(), place.row);
            if (!taken.insert(Json::array({place.config_hash, place.row.at(1), place.row.at(2)})).second)
                throw BadRecord{"the file lists the place twice"};
            placed_.insert(place.config_hash);
            const auto is_it = [&](const KnownPlace& other) {
                return other.trial_id == trial.trial_id && other.row == place.row;
            };
            if (std::any_of(known.begin(), known.end(), is_it)) return;
            fresh.push_back(&line);
            merged_.seeds.insert(trial.seed);
        });
        // Each counts as older than those before it here; in the file the newest of one place comes last.
        for (auto line = fresh.rbegin(); line != fresh.rend(); ++line)
            take(**line, [&](const EvidenceLine& one) {
                store_place(connection_, sweep_, trial_of(one.record, "trial").trial_id, one.record, shared_);
            });
        merged_.places = static_cast<std::int64_t>(fresh.size());
        if (fresh.empty()) return;
        std::vector<Json> rows;
        for (const auto& [number, row] : rows_by_number_) rows.push_back(row);
        number_places(connection_, sweep_, joined_rows(rows_before_, rows));
        if (merged_.is_joined) store_seeds(connection_, sweep_, first_seeds(), run_suffix_);
    }

    // Rows of the table only: trials of a search are in the sweep's file.
    std::vector<std::int64_t> first_seeds() const {
        std::set<std::int64_t> seeds;
        for (const KnownPlace& place : known_places(connection_, sweep_))
            if (place.row.at(0) != kSearchStage) seeds.insert(place.seeds.front());
        return {seeds.begin(), seeds.end()};
    }

    void take_attempt(const EvidenceLine& line) {
        const Json& record = line.record;
        const std::string& uid = text_at(record, "uid");
        const TakenTrial& trial = trial_of(record, "trial");
        if (attempts_.contains(uid)) throw BadRecord{"the file lists the attempt twice"};
        Statement query(connection_, "SELECT id, code_id FROM attempt WHERE uid = ?1");
        StoredAttempt& stored = attempts_[uid];
        if (query.bind(uid).step()) {
            stored = {query.integer(0), query.integer(1), false};
            query.run();
            require_same(stored.id, record);
            ++merged_.known;
            return;
        }
        require_same_run(trial.trial_id, record);
        stored.id = store_attempt(connection_, trial.trial_id, record, shared_);
        require_stored_whole(stored.id, record);
        stored.is_new = true;
        Statement code(connection_, "SELECT code_id FROM attempt WHERE id = ?1");
        code.bind(stored.id).step();
        stored.code_id = code.integer(0);
        origins_[uid] = Place{name_, line.number, 0}.text();
        ++merged_.attempts;
    }

    // Where the numbers are that an attempt is known by.
    std::string place_of(const std::string& uid) const {
        const auto found = origins_.find(uid);
        return found == origins_.end() ? connection_.file() : found->second;
    }

    static std::string words_for(const Json& record) {
        return fmt::format("attempt {} of trial {}", record.value("number", Json()).dump(),
                           short_hash(text_at(record, "trial")));
    }

    void require_same(std::int64_t attempt_id, const Json& record) {
        if (const auto found = difference(connection_, attempt_id, record, shared_))
            throw BadRecord{fmt::format("{} differs from the one in {}: {}", words_for(record),
                                        place_of(text_at(record, "uid")), found->words()),
                            "find out which of the two was changed, and merge the other"};
        if (record.contains("price") && !has_price(connection_, attempt_id))
            store_price(connection_, attempt_id, record, shared_);
    }

    // Stored values must equal the stated ones: a text that states a value twice may state two values, and one of
    // them would be gone.
    void require_stored_whole(std::int64_t attempt_id, const Json& record) const {
        if (const auto found = difference(connection_, attempt_id, record, shared_))
            throw BadRecord{
                fmt::format("{} is not what a database can give back: {}", words_for(record), found->words())};
    }

    // All attempts of a trial are exported together: one that is here and not in the text is of another run.
    void require_same_run(std::int64_t trial_id, const Json& record) const {
        Statement query(connection_, "SELECT uid, number, kind FROM attempt WHERE experiment_id = ?1 ORDER BY number");
        query.bind(trial_id);
        while (query.step()) {
            const std::string uid = query.text(0);
            const std::int64_t number = query.integer(1);
            if (uids_.contains(uid) && record.value("number", Json()) == number)
                throw BadRecord{fmt::format("the trial has two attempts of number {}", number)};
            if (uids_.contains(uid)) continue;
            const bool are_scorings = query.text(2) == "score" && record.value("kind", Json()) == "score";
            throw BadRecord{fmt::format("{} is of another run than attempt {} in {}, which the file does not have",
                                        words_for(record), number, place_of(uid)),
                            are_scorings
                                ? "the trial was scored twice, here and there: keep the two in roots of their own"
                                : "the trial was trained twice, and a table counts a seed once: keep the two in "
                                  "roots of their own"};
        }
    }

    void take_curve(const Json& record) {
        const auto attempt = attempts_.find(text_at(record, "attempt"));
        if (attempt == attempts_.end()) throw BadRecord{"the file does not have the attempt of this curve"};
        if (!curves_.insert(attempt->first).second) throw BadRecord{"the attempt has a second curve"};
        const StoredAttempt& stored = attempt->second;
        unfolded_bytes_ += repeated_bytes(record);
        if (unfolded_bytes_ > kMostUnfoldedBytes)
            throw BadRecord{
                fmt::format("the curves of the file repeat texts to more than {} bytes", kMostUnfoldedBytes)};
        if (stored.is_new) {
            store_curve(connection_, stored.id, stored.code_id, record);
            return;
        }
        try {
            require_same_curve(connection_, stored.id, record);
            // Curves measured here have all their steps.
            if (is_merged(stored.id))
                merged_.points += add_missing_points(connection_, stored.id, stored.code_id, record);
        } catch (const BadRecord& bad) {
            throw BadRecord{fmt::format("the curve of attempt {} differs from the one in {}: {}", attempt->first,
                                        place_of(attempt->first), bad.why),
                            "find out which of the two was changed, and merge the other"};
        }
    }

    // For an attempt that was measured elsewhere.
    bool is_merged(std::int64_t attempt_id) const {
        Statement query(connection_, "SELECT 1 FROM attempt WHERE id = ?1 AND workdir = ''");
        return query.bind(attempt_id).step();
    }

    Connection& connection_;
    const std::string& name_;
    const std::string& run_suffix_;
    Origins& origins_;
    std::vector<EvidenceLine> lines_;
    SharedValues shared_;
    std::map<std::string, TakenTrial> trials_;       // by configuration hash
    std::vector<std::int64_t> known_;                // trials that were there before
    std::map<std::string, StoredAttempt> attempts_;  // by uid
    std::set<std::string> curves_;                   // uids
    std::set<std::string> placed_;                   // configuration hashes
    std::size_t unfolded_bytes_ = 0;                 // of texts that a curve has once for many steps
    std::set<std::string> uids_;                     // of all its attempts
    std::vector<Json> rows_before_;                  // of the sweep
    std::map<std::int64_t, Json> rows_by_number_;    // as the file numbers them
    std::int64_t sweep_ = 0;
    std::string sweep_name_;
    std::map<Json, std::set<std::string>> shown_before_;  // as shown_variants(), where the sweep is known
    Merged merged_;
};

void number_rows_of_parts(Connection& connection, const RowsBySweep& sweeps) {
    for (const auto& [sweep, of_parts] : sweeps) {
        if (!of_parts.agree) continue;
        std::vector<Json> rows;
        for (const auto& [number, row] : of_parts.fresh) rows.push_back(row);
        number_places(connection, sweep, joined_rows(of_parts.before, rows));
    }
}

}  // namespace

std::vector<Merged> merge_evidence(Connection& connection, const std::vector<NamedEvidence>& texts,
                                   const std::string& run_suffix) {
    const SyncedCommits synced(connection);
    Transaction transaction(connection);
    Origins origins;
    std::vector<Merged> merged;
    RowsBySweep of_parts;
    for (const NamedEvidence& evidence : texts) {
        Merge merge(connection, evidence, run_suffix, origins);
        merged.push_back(merge.run());
        merge.add_rows(of_parts);
    }
    number_rows_of_parts(connection, of_parts);
    transaction.commit();
    return merged;
}

}  // namespace deft::results_db
