#pragma once
// The event files of a sweep on the disk.

#include <filesystem>

#include "reporting/views/page/page.h"

namespace deft::cli {

// Writes FOLDER/SWEEP/RECIPE/SEED/events.out.tfevents.*, all of them or nothing, and returns FOLDER/SWEEP.
// Errors: usage, without a folder, or where FOLDER/SWEEP holds something; missing, where no trial has a step or score;
// io.
std::filesystem::path write_tensorboard_folder(const reporting::ReportData& data, const std::filesystem::path& folder);

}  // namespace deft::cli
