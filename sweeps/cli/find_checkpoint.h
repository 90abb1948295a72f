#pragma once
// The checkpoint that a command line means.

#include <filesystem>
#include <string>

namespace deft::cli {

// The checkpoint to evaluate for a trial, given by its printed name or hash. Errors: usage, for an unknown trial;
// missing, for one without a checkpoint.
std::filesystem::path checkpoint_of_trial(const std::string& trial, const std::string& root);

// A checkpoint's folder, a folder of several, of which the result is meant, or a trial. Errors: io, for another folder;
// as above.
std::filesystem::path find_checkpoint(const std::string& named, const std::string& root);

}  // namespace deft::cli
