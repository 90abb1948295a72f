#pragma once
// CUDA's multi-process service (MPS): trials that share a card run on it side by side. Without it they take turns.

#include <filesystem>
#include <string>
#include <vector>

#include "sweeps/driver/slots.h"

namespace deft::sweeps {

// Whether its daemon answers. Its pipes may outlive it, so their presence says nothing.
bool has_multi_process_service();

// The loss of trials that share a card without the service; empty where they do not share, or it answers.
std::string taking_turns(const std::vector<Slot>& slots);

// The service on request, from here to the end of the object. A service that answered before stays: another run started
// it, or one that was killed.
class MultiProcessService {
 public:
    // Starts the daemon, which logs to `logs`, unless one answers.
    explicit MultiProcessService(const std::filesystem::path& logs, double answer_seconds = 10);
    ~MultiProcessService();
    MultiProcessService(const MultiProcessService&) = delete;
    MultiProcessService& operator=(const MultiProcessService&) = delete;

    // Why it does not run, or nothing. Trials take turns then.
    const std::string& problem() const { return problem_; }

 private:
    bool is_own_ = false;
    std::string problem_;
};

}  // namespace deft::sweeps
