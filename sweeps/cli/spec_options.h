#pragma once
// The options that say which points of which sweep file are meant; the same for plan and run.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "sweeps/spec/expand.h"
#include "sweeps/spec/spec.h"

namespace deft::cli {

struct SpecArguments {
    std::string file;
    std::string scale = sweeps::kDefaultScale;
    std::vector<std::string> overrides;
    std::vector<std::string> only;
    std::string seeds;

    void add_to(CLI::App& command);
    // Errors: those of load_spec; usage, for cases that are not there.
    sweeps::Spec load() const;
    bool selects(const sweeps::Point& point) const;
    // The same arguments as a command line, for messages.
    std::string text() const;
};

}  // namespace deft::cli
