#pragma once
// The prerequisites of waiting trials: the model that they score, the trial that they start from. Those that
// cannot have it are taken out of the queue, and counted as failed or blocked.

#include "sweeps/driver/narration.h"
#include "sweeps/driver/work_left.h"

namespace deft::sweeps {

class Prerequisites {
 public:
    Prerequisites(const std::vector<Trial>& trials, const DriverOptions& options, WorkLeft& work, RunState& state,
                  Progress& progress)
        : trials_(trials), options_(options), work_(work), state_(state), progress_(progress) {}

    // Before the run: trained models that are to be scored and are not there any more, and trials that are to start
    // from such. Nobody asked to train those again, but with --retrain they are.
    void set_aside() {
        set_aside_without_checkpoint();
        set_aside_without_start();
    }

    // After a trial has failed for good: what starts from it, directly or through others.
    void block_behind(std::size_t failed);

 private:
    void set_aside_without_checkpoint();
    void set_aside_without_start();
    void retrain_origins(std::size_t parent, std::vector<std::size_t>& origins);
    void block_behind_missing();
    bool is_coming(std::size_t trial) const;
    void warn_of_gone(std::vector<std::string> names, const char* what_cannot_be);

    const std::vector<Trial>& trials_;
    const DriverOptions& options_;
    WorkLeft& work_;
    RunState& state_;
    Progress& progress_;
};

}  // namespace deft::sweeps
