#pragma once
// What a report needs of a sweep file that the database does not hold: <root>/sweeps/<spec sha256>.json.

#include <filesystem>
#include <string>

#include "sweeps/spec.h"

namespace deft::sweeps {

struct SweepNote {
    std::string baseline;
    std::string scale;
    std::string title;
    std::string command;  // that trains what is left
};

void write_sweep_note(const std::filesystem::path& root, const Spec& spec, const std::string& command);
// Empty where there is none.
SweepNote read_sweep_note(const std::filesystem::path& root, const std::string& spec_sha256);

}  // namespace deft::sweeps
