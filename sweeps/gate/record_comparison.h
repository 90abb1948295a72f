#pragma once
// The samples of a comparison, set down in the results database: sessions of mode 'ab', base is arm A, head arm B.

#include <cstdint>
#include <filesystem>
#include <span>

#include "base/json_fwd.h"
#include "results_db/store.h"
#include "sweeps/gate/compare.h"

namespace deft::sweeps {

// The rule, and how it was measured.
Json settings_json(const ComparisonSettings& settings);

class ComparisonRecorder {
 public:
    // Errors: database, io, as results_db::Writer.
    explicit ComparisonRecorder(const std::filesystem::path& root);

    const std::filesystem::path& file() const { return file_; }
    results_db::Writer& writer() { return writer_; }
    // The first measurements as one session, the second ones as another.
    void record(std::span<const ComparedCase> cases, const KnownArms& arms, const ComparisonSettings& settings);

 private:
    std::filesystem::path file_;
    results_db::Writer writer_;
    std::int64_t started_ms_;
};

}  // namespace deft::sweeps
