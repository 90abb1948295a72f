#pragma once
// Finished work that the database does not know: it was deleted, or an older copy of it was put in its place.

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "results_db/store.h"
#include "sweeps/driver/record_sweep.h"
#include "sweeps/driver/recovery.h"

namespace deft::sweeps {

// Takes in the run folders of each of these points whose journals tell of a trial that ended well, and of the attempts
// that it went on from. Points that are done already are left alone, and so is every file. Returns a line for each trial.
// Errors: those of the writer.
std::vector<std::string> take_in_finished(results_db::Writer& writer, const std::filesystem::path& root,
                                          const std::vector<Point>& points, std::span<const std::size_t> wanted,
                                          const RecordedSweep& recorded);

}  // namespace deft::sweeps
