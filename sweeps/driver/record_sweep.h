#pragma once
// A sweep set down in the database before its trials: what it is, what runs it, and the ids of its trials.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/json.h"
#include "results_db/writer.h"
#include "sweeps/driver/driver.h"

namespace deft::sweeps {

struct RecordedSweep {
    std::int64_t code = 0, host = 0;
    Json provenance;                           // both in words, for trials' folders
    std::string libraries_json, machine_json;  // of this process and machine
    std::vector<std::int64_t> trial_ids;       // by trial
};

// Errors: database, io.
RecordedSweep record_sweep(results_db::Writer& writer, const Spec& spec, const std::vector<Trial>& trials,
                           const DriverOptions& options);

// The checkpoint of a training's result: where the database says, or else in a folder of any hash that it has had.
// Nothing where it is gone. Errors: database, for a path that leads out of the root.
std::optional<std::filesystem::path> checkpoint_to_score(const results_db::Writer& writer,
                                                         const std::filesystem::path& root, std::int64_t trial_id);

}  // namespace deft::sweeps
