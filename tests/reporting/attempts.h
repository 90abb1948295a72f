#pragma once
// Attempts of a trial for report tests, as the database would give them.

#include <string>

#include "reporting/analysis/results/results.h"

namespace deft::reporting {

inline results_db::AttemptRow an_attempt_on(const results_db::Shape& shape, const results_db::CostParts& seconds,
                                            const std::string& processor = "Example CPU") {
    results_db::AttemptRow attempt;
    attempt.number = 1;
    attempt.state = "ok";
    attempt.counts = true;
    attempt.shape = shape;
    attempt.seconds = seconds;
    attempt.held_seconds = seconds.whole();
    attempt.waited_seconds = seconds.waiting;
    attempt.host.cpu_model = processor;
    attempt.host.cores = 8;
    return attempt;
}

// Adds it to the trial, at training, with what it cost.
inline void add_attempt(Trial& trial, results_db::AttemptRow attempt) {
    attempt.number = static_cast<std::int64_t>(trial.attempt_rows.size()) + 1;
    trial.parts.add(*attempt.seconds, attempt.devices());
    trial.device_seconds = trial.parts.training;
    trial.attempt_rows.push_back(std::move(attempt));
}

}  // namespace deft::reporting
