#include "sweeps/driver/trial_pulse.h"

#include <exception>
#include <fstream>

#include "base/journal.h"
#include "base/json.h"

namespace deft::sweeps {

void TrialPulse::look(const std::filesystem::path& journal) {
    std::ifstream in(journal, std::ios::binary);
    if (!in.seekg(static_cast<std::streamoff>(read_))) return;
    for (std::string line; std::getline(in, line);) {
        if (in.eof()) return;  // no newline: still being written
        read_ += line.size() + 1;
        heard_ = Clock::now();
        if (line.find(R"("type":"lease")") == std::string::npos) continue;
        try {
            journal::Lease lease;
            journal::from_json(Json::parse(line), lease);
            promised_ = static_cast<double>(lease.until_ms - lease.time_ms) / 1000;
            if (!lease.doing.empty()) doing_ = lease.doing;
        } catch (const std::exception&) {
            // Damage is told by the ingestion, with its place.
        }
    }
}

}  // namespace deft::sweeps
