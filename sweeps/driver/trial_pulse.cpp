#include "sweeps/driver/trial_pulse.h"

#include <algorithm>
#include <exception>
#include <fstream>

#include "base/journal.h"
#include "base/json.h"

namespace deft::sweeps {

namespace {

constexpr double kEndSeconds = 10;  // between a trial's last line and its end
constexpr double kLongestGap = 2;   // seconds between two looks of a process that runs

}  // namespace

void TrialPulse::look(const std::filesystem::path& journal) {
    silent_ += std::min(kLongestGap, seconds_since(looked_));
    looked_ = Clock::now();
    std::ifstream in(journal, std::ios::binary);
    if (!in.seekg(static_cast<std::streamoff>(read_))) return;
    for (std::string line; std::getline(in, line);) {
        if (in.eof()) return;  // no newline: still being written
        read_ += line.size() + 1;
        silent_ = 0;
        if (line.find(R"("type":"ended")") != std::string::npos) {
            promised_ = kEndSeconds;
            doing_ = "ending";
            has_ended_ = true;
        }
        if (line.find(R"("type":"lease")") == std::string::npos) continue;
        try {
            journal::Lease lease;
            journal::from_json(parse_json(line), lease);
            promised_ = static_cast<double>(lease.until_ms - lease.time_ms) / 1000;
            if (!lease.doing.empty()) doing_ = lease.doing;
        } catch (const std::exception&) {
            // Ingestion reports damage, with its place.
        }
    }
}

}  // namespace deft::sweeps
