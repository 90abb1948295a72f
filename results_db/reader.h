#pragma once
// The results database as readers see it.

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "results_db/bench_rows.h"
#include "results_db/evidence/evidence.h"
#include "results_db/gate_rows.h"
#include "results_db/live_attempts.h"
#include "results_db/rows.h"

namespace deft::results_db {

// Read-only; several may be open while the writer works.
// Errors: missing (no such file, no sweep), database (foreign, corrupt, too new; a trial whose row was changed).
class Reader {
 public:
    explicit Reader(const std::filesystem::path& file);
    // A database in memory with the content of these texts. Errors: those of merge_evidence().
    explicit Reader(const std::vector<NamedEvidence>& texts);
    ~Reader();
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    std::vector<SweepHead> sweeps() const;         // newest first
    std::vector<std::string> sweep_names() const;  // each once, newest first
    // "NAME", the newest spec of that name, or "NAME@HASH", of which the hash may be cut short. Errors: usage,
    // for an unknown or ambiguous name; missing, without any sweep.
    StoredSweep sweep(const std::string& selector) const;
    // As sweep(), with the parts of each trial that a plan reads: place, configuration, state and scores asked for.
    // Its configurations are not compared with their hashes: trial() does so.
    StoredSweep planned_sweep(const std::string& selector) const;
    // The pace of that sweep; its results are not read.
    SweepPace pace(const std::string& selector) const;
    // Finds by a prefix of the config hash, or by name within the newest sweep: "baseline/1",
    // "baseline[budget_fraction=0.5]/1", where axes and seed may be omitted. Errors: usage, for
    // an unknown or ambiguous name.
    StoredTrial trial(const std::string& selector) const;
    // The training curve of a trial, through all attempts that went on from one another's checkpoints.
    std::vector<journal::TrainPoint> curve(const std::string& config_hash) const;
    // Values of every trial of the sweep, by config hash, in one query each. Trials without any are absent.
    // `with_points`: the config hashes of the trials whose training points are read; null: all.
    std::map<std::string, TrialCurve> curves(const SweepHead& sweep,
                                             const std::set<std::string>* with_points = nullptr) const;
    // Statistics of a trial's expert layers, as its training curve: by step and layer. Empty without experts.
    std::vector<journal::ExpertLoad> expert_loads(const std::string& config_hash) const;
    std::vector<Checkpoint> checkpoints(const SweepHead& sweep) const;  // by config hash and step
    // The subset of the keys that this training's model was not scored by; all where it is not known.
    std::vector<std::string> unscored(const std::string& config_hash, const std::vector<std::string>& keys) const;
    // The results of a scored task, one document after another, as they were stored; empty: none were. The newest of
    // that task and number of shots.
    std::string items(const std::string& config_hash, const std::string& task, std::int64_t shots) const;
    // The evaluation whose row has that key; the newest such.
    std::string items_of_score(const std::string& config_hash, const ScoreRow& row) const;
    // In all sweeps.
    std::vector<LiveAttempt> live_attempts() const;
    std::vector<BenchRow> benches() const;               // by case and time
    std::vector<BenchHistoryRow> bench_history() const;  // by series and time
    std::vector<BaselineRow> baselines() const;          // by name and time
    std::vector<VerdictRow> verdicts() const;            // in the order given
    // As export_evidence().
    Evidence evidence(const std::string& selector, std::size_t most_bytes = kMostEvidenceBytes) const;
    // As export_parts().
    std::vector<Evidence> evidence_parts(const std::string& selector, std::size_t count,
                                         std::size_t most_bytes = kMostEvidenceBytes) const;

 private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace deft::results_db
