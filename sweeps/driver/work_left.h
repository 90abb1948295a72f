#pragma once
// The remaining work of a sweep's trials by the database and the checkpoints: training, scoring, from which folders.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "results_db/writer.h"
#include "sweeps/driver/driver.h"
#include "sweeps/driver/record_sweep.h"
#include "sweeps/driver/run_folder.h"

namespace deft::sweeps {

// Trials of one configuration share their training and its id in the database. All that it refers to outlives it.
class WorkLeft {
 public:
    WorkLeft(const std::vector<Trial>& trials, const DriverOptions& options, const RecordedSweep& recorded,
             const results_db::Writer& writer)
        : trials_(trials), options_(options), recorded_(recorded), writer_(writer) {}

    bool is_trained(std::size_t trial) const { return writer_.is_trained(recorded_.trial_ids[trial]); }
    bool is_same_training(std::size_t trial, std::size_t other) const {
        return recorded_.trial_ids[trial] == recorded_.trial_ids[other];
    }

    // The keys of its scores that nobody has measured yet.
    std::vector<std::string> unscored(std::size_t trial) const;
    bool asks_for_validation(std::size_t trial) const;

    // The checkpoint of a trained one; nothing where it is gone.
    std::optional<std::filesystem::path> checkpoint_of(std::size_t trial) const;
    // With --retrain the model must be whole too; otherwise its scoring says what is wrong with it.
    bool can_be_scored(std::size_t trial) const;

    // Has a trained one trained once more. False: it was to be already.
    bool retrain(std::size_t trial) { return retrain_.insert(recorded_.trial_ids[trial]).second; }
    void end_retraining(std::size_t trial) { retrain_.erase(recorded_.trial_ids[trial]); }

    results_db::Work work_of(std::size_t trial) const;
    // Whether what it starts from is trained, and is not just being trained once more: that one's checkpoint is about
    // to be replaced. Always, for one that starts from drawn weights or from files.
    bool has_start(std::size_t trial) const;
    Assignment assignment_of(std::size_t trial) const;

 private:
    bool is_retrained(std::size_t trial) const { return retrain_.contains(recorded_.trial_ids[trial]); }

    const std::vector<Trial>& trials_;
    const DriverOptions& options_;
    const RecordedSweep& recorded_;
    const results_db::Writer& writer_;
    std::set<std::int64_t> retrain_;  // experiments: trained before, and their checkpoints are gone
};

}  // namespace deft::sweeps
