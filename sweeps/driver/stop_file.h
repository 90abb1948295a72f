#pragma once
// The file RUN_FOLDER/stop, which asks a trial to save a checkpoint and end. A signal reaches processes of one machine
// alone; to mpirun or srun it would end the trial at once.

#include <filesystem>

#include "base/stopwatch.h"

namespace deft::sweeps {

void write_stop_file(const std::filesystem::path& run_folder);
bool has_stop_file(const std::filesystem::path& run_folder);

// Looks at most once in `seconds`: a trial asks after each step, and the folder may be on a network.
class StopFile {
 public:
    explicit StopFile(std::filesystem::path run_folder, double seconds = 0.5);

    bool is_there();

 private:
    std::filesystem::path run_folder_;
    double seconds_;
    Clock::time_point looked_{};
    bool is_there_ = false;
};

}  // namespace deft::sweeps
