#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/suggestion.h"
#include "base/text.h"
#include "results_db/attempt_rows.h"
#include "results_db/connection.h"
#include "results_db/expert_load_rows.h"
#include "results_db/nonfinite.h"
#include "results_db/open.h"
#include "results_db/reader.h"
#include "results_db/record_row.h"
#include "results_db/score_rows.h"
#include "results_db/stored_configuration.h"
#include "results_db/sweep_curves.h"
#include "results_db/sweep_heads.h"
#include "results_db/sweep_places.h"
#include "results_db/tables.h"
#include "results_db/trial_name.h"

namespace deft::results_db {

namespace {

// Each trial of the sweep once, with its representative attempt.
const std::string kShown =
    "WITH shown AS MATERIALIZED (SELECT e.config_hash AS hash, (SELECT b.id FROM attempt b WHERE b.experiment_id = e.id"
    "  AND b.kind = 'train' ORDER BY b.state = 'ok' DESC, b.number DESC LIMIT 1) AS attempt_id"
    " FROM experiment e WHERE e.id IN (SELECT m.experiment_id FROM sweep_member m WHERE m.sweep_id = ?1)) ";

std::vector<Checkpoint> checkpoints_of_sweep(Connection& connection, std::int64_t sweep_id) {
    Statement query(connection, (kShown + "SELECT hash, f.path, f.sha256, r.step, f.bytes, r.role FROM shown"
                                          " JOIN attempt_artifact r ON r.attempt_id = shown.attempt_id"
                                          " JOIN artifact f ON f.id = r.artifact_id WHERE f.kind = 'checkpoint'"
                                          " ORDER BY hash, r.step, f.path")
                                    .c_str());
    query.bind(sweep_id);
    std::vector<Checkpoint> checkpoints;
    while (query.step())
        checkpoints.push_back(
            {query.text(0), query.text(1), query.text(2), query.integer(3), query.integer(4), query.text(5)});
    return checkpoints;
}

// Each attempt at its own shape and price.
void add_up_cost(TrialRow& trial) {
    bool known = false, priced = true, all_priced = true;
    CostParts usd;
    const auto add = [&](const AttemptRow& attempt) {
        if (!attempt.seconds) return;
        trial.parts.add(*attempt.seconds, attempt.devices());
        usd.add(*attempt.seconds, attempt.devices() * attempt.usd_per_second());
        all_priced = all_priced && (attempt.price || attempt.seconds->whole() == 0);
        if (!attempt.held_seconds) ++trial.unseen_ends;
        if (!attempt.waited_seconds && attempt.seconds->whole() > 0) ++trial.unmeasured_waits;
    };
    if (!trial.imported)  // the time of storing it is not a cost of its training
        for (const AttemptRow& attempt : trial.attempt_rows) {
            add(attempt);
            if (!attempt.counts || !attempt.own_seconds) continue;
            known = true;
            priced = priced && attempt.price;
        }
    trial.device_seconds = trial.parts.training;
    if (known && priced) trial.usd = usd.training;
    for (const AttemptRow& attempt : trial.scoring_rows) add(attempt);
    if (trial.parts.whole() > 0 && all_priced) trial.usd_parts = usd;
}

// The last point of a trial's curve: one look into the table for each attempt, in place of a sort of all points.
class LastPoint {
 public:
    explicit LastPoint(Connection& connection)
        : kept_(connection,
                "SELECT attempt_id, ifnull(last_step, 9223372036854775807) FROM v_kept WHERE experiment_id = ?1"),
          last_(connection, ("SELECT " + columns_of<journal::TrainPoint>() +
                             " FROM train_point WHERE attempt_id = ?1 AND step <= ?2 ORDER BY step DESC LIMIT 1")
                                .c_str()) {}

    std::optional<journal::TrainPoint> of(std::int64_t trial_id) {
        std::optional<journal::TrainPoint> newest;
        kept_.bind(trial_id);
        while (kept_.step()) {
            last_.bind(kept_.integer(0), kept_.integer(1));
            if (!last_.step()) continue;
            auto point = record_of<journal::TrainPoint>(last_);
            if (!newest || point.step > newest->step) newest = std::move(point);
        }
        return newest;
    }

 private:
    Statement kept_, last_;
};

// The newest that ended ok, or the newest of all; null without any.
const AttemptRow* shown_attempt(const std::vector<AttemptRow>& by_number) {
    const AttemptRow* shown = nullptr;
    for (const AttemptRow& attempt : by_number)
        if (shown == nullptr || attempt.state == "ok" || shown->state != "ok") shown = &attempt;
    return shown;
}

void show(TrialRow& trial, const AttemptRow& attempt) {
    trial.state = attempt.state;
    trial.attempt_uid = attempt.uid;
    trial.fail_class = attempt.fail_class;
    trial.error = attempt.error;
    trial.workdir = attempt.workdir;
    trial.started_ms = attempt.started_ms;
    trial.ended_ms = attempt.ended_ms;
    trial.train_seconds = attempt.train_seconds.value_or(0);
    trial.code = attempt.code;
    trial.host = attempt.host;
    trial.dataset_name = attempt.dataset.name;
    trial.dataset_sha256 = attempt.dataset.sha256;
    trial.total_steps = attempt.total_steps;
    trial.parameters = attempt.parameters;
    trial.active_parameters = attempt.active_parameters > 0 ? attempt.active_parameters : attempt.parameters;
    trial.peak_rss_bytes = attempt.peak_rss_bytes;
}

// The trial at its place, as planned, and its state.
StoredTrial planned_trial(Connection& connection, const SweepPlace& place) {
    Statement row(connection,
                  ("SELECT config_json, " + column_names(kTrialColumns) + " FROM experiment WHERE id = ?1").c_str());
    if (!row.bind(place.trial_id).step()) connection.fail("read");
    Trial training;
    training.config_json = row.text(0);
    read_row(row, 1, kTrialColumns, &training);
    StoredTrial trial;
    trial.newer_state = place.newer_state;
    trial.newer_hash = place.newer_hash;
    trial.stage = place.stage;
    trial.seeds = place.seeds;
    trial.imported = imported_of(place.imported_json);
    trial.recipe = place.recipe;
    trial.axes_json = place.axes_json;
    trial.ordinal = place.ordinal;
    trial.seed = training.seed;
    trial.config_hash = training.config_hash;
    trial.variant_hash = training.variant_hash;
    trial.label = training.label;
    trial.config_json = training.config_json;
    // Without LIMIT, as in result_checkpoint().
    Statement shown(connection,
                    "SELECT state FROM attempt WHERE experiment_id = ?1 AND kind = 'train'"
                    " ORDER BY state = 'ok' DESC, number DESC");
    trial.state = shown.bind(place.trial_id).step() ? shown.text(0) : "pending";
    trial.result = result_checkpoint(connection, place.trial_id);
    trial.asked = asked_scores(connection, place.trial_id, trial.result, place.scores_json);
    return trial;
}

StoredTrial trial_of(Connection& connection, const SweepPlace& place) {
    StoredTrial trial = planned_trial(connection, place);
    trial.attempt_rows = read_attempts(connection, place.trial_id, Work::train);
    trial.scoring_rows = read_attempts(connection, place.trial_id, Work::score);
    for (const std::vector<AttemptRow>* attempts : {&trial.attempt_rows, &trial.scoring_rows})
        for (const AttemptRow& attempt : *attempts) trial.eval_seconds += attempt.eval_seconds.value_or(0);
    trial.attempts = static_cast<std::int64_t>(trial.attempt_rows.size());
    add_up_cost(trial);
    if (const AttemptRow* shown = shown_attempt(trial.attempt_rows)) {
        show(trial, *shown);
        trial.last_point = LastPoint(connection).of(place.trial_id);
        trial.scores = scores_of(connection, place.trial_id, trial.result, trial.asked);
    }
    return trial;
}

SweepPace pace_of_sweep(Connection& connection, std::int64_t sweep_id) {
    Statement shown(connection,
                    "SELECT state, uid <> '' AND workdir = '', ifnull(train_seconds, 0) FROM attempt WHERE"
                    " experiment_id = ?1 AND kind = 'train' ORDER BY state = 'ok' DESC, number DESC");
    LastPoint last(connection);
    SweepPace pace;
    for (const SweepPlace& place : places_of(connection, sweep_id)) {
        if (!shown.bind(place.trial_id).step() || shown.text(0) != "ok") continue;
        const bool is_merged = shown.integer(1) != 0;
        const double seconds = shown.real(2);
        pace.merged += is_merged;
        if (is_merged || !(seconds > 0)) continue;
        const std::optional<journal::TrainPoint> point = last.of(place.trial_id);
        if (!point) continue;
        pace.flops += point->flops;
        pace.seconds += seconds;
    }
    return pace;
}

[[noreturn]] void fail_ambiguous(const std::string& selector, const std::vector<StoredTrial>& found) {
    std::string names;
    for (const TrialRow& trial : found)
        names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", trial_name(trial), short_hash(trial.config_hash));
    throw Error(ErrorKind::usage, fmt::format("'{}' may be any of {} trials: {}", selector, found.size(), names),
                "give one of these names, or more of the hash");
}

}  // namespace

std::int64_t TrialRow::unscored() const {
    return std::count_if(asked.begin(), asked.end(), [](const AskedScore& one) { return !one.is_scored; });
}

struct Reader::Impl {
    explicit Impl(std::unique_ptr<Connection> opened) : connection(std::move(opened)) {}

    StoredTrial trial(const SweepPlace& place) {
        // Several places may share a row, which never changes.
        std::shared_ptr<const Json>& config = configs[place.trial_id];
        if (!config) config = std::make_shared<const Json>(require_own_hashes(*connection, place.trial_id));
        StoredTrial trial = trial_of(*connection, place);
        trial.config = config;
        return trial;
    }

    StoredTrial planned(const SweepPlace& place) { return planned_trial(*connection, place); }

    StoredSweep sweep(const std::string& selector, StoredTrial (Impl::*read)(const SweepPlace&)) {
        const Transaction snapshot(*connection, Transaction::Kind::read);
        StoredSweep results{find_sweep(read_sweeps(*connection), selector, connection->file()), {}};
        for (const SweepPlace& place : places_of(*connection, results.id))
            results.trials.push_back((this->*read)(place));
        return results;
    }

    // Searches the newest sweep. Errors: usage, with the nearest name.
    std::vector<StoredTrial> by_name(const std::string& selector) {
        std::vector<StoredTrial> found;
        std::vector<std::string> names;
        const std::int64_t sweep = connection->integer("SELECT id FROM sweep ORDER BY use_order DESC LIMIT 1");
        for (const SweepPlace& place : places_of(*connection, sweep)) {
            StoredTrial row = trial(place);
            names.push_back(trial_name(row));
            if (names.back() == selector) return {std::move(row)};
            if (is_named(row, selector)) found.push_back(std::move(row));
        }
        if (found.empty())
            throw Error(ErrorKind::usage, fmt::format("no trial matches '{}'", selector),
                        suggestion(selector, names, "deft status lists the trials of the newest sweep"));
        return found;
    }

    // The place of each is that in the newest sweep it belongs to.
    std::vector<StoredTrial> by_hash(const std::string& prefix) {
        Statement query(*connection,
                        "SELECT e.id, m.case_key, m.axes_json, m.ordinal, m.scores_json, m.stage, m.seeds,"
                        " m.imported_json FROM experiment e"
                        " LEFT JOIN sweep_member m"
                        " ON m.experiment_id = e.id AND m.sweep_id = (SELECT s.id FROM sweep s JOIN sweep_member n"
                        "  ON n.sweep_id = s.id WHERE n.experiment_id = e.id ORDER BY s.use_order DESC LIMIT 1)"
                        " WHERE e.config_hash BETWEEN ?1 AND ?1 || 'g'"  // above all hexadecimal digits
                        " ORDER BY e.config_hash, m.ordinal"
                        " LIMIT 32");
        query.bind(prefix);
        std::vector<StoredTrial> found;
        std::set<std::int64_t> seen;  // several recipes of one sweep may share a trial
        while (query.step()) {
            if (!seen.insert(query.integer(0)).second) continue;
            const std::string axes = query.is_null(2) ? "{}" : query.text(2);
            found.push_back(trial({query.integer(0), query.text(1), axes, query.integer(3), query.text(4),
                                   query.text(5), query.text(6), query.text(7)}));
        }
        return found;
    }

    std::unique_ptr<Connection> connection;
    std::map<std::int64_t, std::shared_ptr<const Json>> configs;  // of the trials that were checked
};

Reader::Reader(const std::filesystem::path& file)
    : impl_(std::make_unique<Impl>(open_for_reading(std::filesystem::absolute(file)))) {}

Reader::Reader(const std::vector<NamedEvidence>& texts)
    : impl_(std::make_unique<Impl>(open_in_memory(texts.empty() ? "nothing" : texts.front().name))) {
    merge_evidence(*impl_->connection, texts, {});
}

Reader::~Reader() = default;

std::vector<SweepHead> Reader::sweeps() const {
    return read_sweeps(*impl_->connection);
}

std::vector<std::string> Reader::sweep_names() const {
    std::vector<std::string> names;
    for (const SweepHead& head : sweeps())
        if (std::find(names.begin(), names.end(), head.name) == names.end()) names.push_back(head.name);
    return names;
}

StoredSweep Reader::sweep(const std::string& selector) const {
    return impl_->sweep(selector, &Impl::trial);
}

StoredSweep Reader::planned_sweep(const std::string& selector) const {
    return impl_->sweep(selector, &Impl::planned);
}

SweepPace Reader::pace(const std::string& selector) const {
    Connection& connection = *impl_->connection;
    const Transaction snapshot(connection, Transaction::Kind::read);
    return pace_of_sweep(connection, find_sweep(read_sweeps(connection), selector, connection.file()).id);
}

StoredTrial Reader::trial(const std::string& selector) const {
    const Transaction snapshot(*impl_->connection, Transaction::Kind::read);
    if (selector.empty())
        throw Error(ErrorKind::usage, "an empty trial selector",
                    "give its name, as in baseline/1, or the start of its configuration hash");
    std::vector<StoredTrial> found = impl_->by_hash(selector);
    if (found.empty()) found = impl_->by_name(selector);
    const bool several = std::any_of(found.begin(), found.end(), [&](const TrialRow& trial) {
        return trial.config_hash != found.front().config_hash;
    });
    if (several) fail_ambiguous(selector, found);
    return std::move(found.front());
}

std::vector<journal::TrainPoint> Reader::curve(const std::string& config_hash) const {
    Connection& connection = *impl_->connection;
    const Transaction snapshot(connection, Transaction::Kind::read);
    std::vector<journal::TrainPoint> points;
    Statement trial(connection, "SELECT id FROM experiment WHERE config_hash = ?1");
    if (!trial.bind(config_hash).step()) return points;
    Statement query(connection, ("SELECT " + columns_of<journal::TrainPoint>() +
                                 " FROM v_curve WHERE experiment_id = ?1 ORDER BY step")
                                    .c_str());
    query.bind(trial.integer(0));
    while (query.step()) points.push_back(record_of<journal::TrainPoint>(query));
    return points;
}

std::map<std::string, TrialCurve> Reader::curves(const SweepHead& sweep,
                                                 const std::set<std::string>* with_points) const {
    const Transaction snapshot(*impl_->connection, Transaction::Kind::read);
    return curves_of_sweep(*impl_->connection, sweep.id, with_points);
}

std::vector<journal::ExpertLoad> Reader::expert_loads(const std::string& config_hash) const {
    const Transaction snapshot(*impl_->connection, Transaction::Kind::read);
    return read_expert_loads(*impl_->connection, config_hash);
}

std::vector<Checkpoint> Reader::checkpoints(const SweepHead& sweep) const {
    return checkpoints_of_sweep(*impl_->connection, sweep.id);
}

std::string Reader::items_of_score(const std::string& config_hash, const ScoreRow& row) const {
    return items_of(*impl_->connection, config_hash, row.task, row.shots, &row.score_key);
}

std::string Reader::items(const std::string& config_hash, const std::string& task, std::int64_t shots) const {
    return items_of(*impl_->connection, config_hash, task, shots);
}

std::vector<std::string> Reader::unscored(const std::string& config_hash, const std::vector<std::string>& keys) const {
    Connection& connection = *impl_->connection;
    const Transaction snapshot(connection, Transaction::Kind::read);
    Statement trial(connection, "SELECT id FROM experiment WHERE config_hash = ?1");
    if (!trial.bind(config_hash).step()) return keys;
    return unscored_keys(connection, trial.integer(0), result_checkpoint(connection, trial.integer(0)), keys);
}

std::vector<LiveAttempt> Reader::live_attempts() const {
    return results_db::live_attempts(*impl_->connection);
}

std::vector<BenchRow> Reader::benches() const {
    return read_bench_rows(*impl_->connection);
}

std::vector<BenchHistoryRow> Reader::bench_history() const {
    return read_bench_history(*impl_->connection);
}

std::vector<BaselineRow> Reader::baselines() const {
    return read_baselines(*impl_->connection);
}

Evidence Reader::evidence(const std::string& selector, std::size_t most_bytes) const {
    return export_evidence(*impl_->connection, selector, most_bytes);
}

std::vector<Evidence> Reader::evidence_parts(const std::string& selector, std::size_t count,
                                             std::size_t most_bytes) const {
    return export_parts(*impl_->connection, selector, count, most_bytes);
}

std::vector<VerdictRow> Reader::verdicts() const {
    return read_verdicts(*impl_->connection);
}

}  // namespace deft::results_db
