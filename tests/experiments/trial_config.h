#pragma once
// A trial's configuration out of text, and what a wrong one is refused with.

#include <filesystem>
#include <string>

#include "experiments/config.h"
#include "tests/refusal.h"

namespace deft::test {

inline experiments::TrialConfig trial_of(const std::string& toml, const std::filesystem::path& folder = "/nowhere") {
    return experiments::parse_trial_config(parse_toml(toml, "t.toml"), 1, folder);
}

// With a small corpus, and what is known of it.
inline experiments::TrialConfig resolved_trial(const std::string& toml) {
    experiments::TrialConfig config = trial_of(toml);
    config.data.embedded_bytes = 2000;
    resolve_data(config);
    return config;
}

inline std::string wrong_trial(const std::string& toml) {
    return refusal([&] { trial_of(toml); });
}

}  // namespace deft::test
