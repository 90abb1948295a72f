#pragma once
// The checkpoint that a command's argument means.

#include <filesystem>
#include <string>

namespace deft::cli {

// What a trial is scored by, which is given by its name or hash, as tables print them. Errors: missing.
std::filesystem::path checkpoint_of_trial(const std::string& name, const std::string& root);

// A checkpoint's folder, one that holds checkpoints, or a trial as above. Errors: missing; io, for another folder.
std::filesystem::path find_checkpoint(const std::string& name, const std::string& root);

}  // namespace deft::cli
