#include "sweeps/driver/stop_file.h"

#include <fstream>
#include <system_error>
#include <utility>

namespace deft::sweeps {

namespace {

constexpr const char* kStopFile = "stop";

}  // namespace

void write_stop_file(const std::filesystem::path& run_folder) {
    std::ofstream(run_folder / kStopFile).close();
}

bool has_stop_file(const std::filesystem::path& run_folder) {
    std::error_code error;
    return std::filesystem::exists(run_folder / kStopFile, error);
}

StopFile::StopFile(std::filesystem::path run_folder, double seconds)
    : run_folder_(std::move(run_folder)), seconds_(seconds) {}

bool StopFile::is_there() {
    if (is_there_ || (looked_ != Clock::time_point{} && seconds_since(looked_) < seconds_)) return is_there_;
    looked_ = Clock::now();
    return is_there_ = has_stop_file(run_folder_);
}

}  // namespace deft::sweeps
