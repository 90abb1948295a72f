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
    std::string points;   // file and options of `deft run`, without --only and --root
    std::string paper;    // the published table; empty: none
};

SweepNote sweep_note(const Spec& spec, const std::string& command, const std::string& points);
void write_sweep_note(const std::filesystem::path& root, const Spec& spec, const SweepNote& note);
// Empty where there is none.
SweepNote read_sweep_note(const std::filesystem::path& root, const std::string& spec_sha256);

}  // namespace deft::sweeps
