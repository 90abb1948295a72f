#pragma once
// One attempt's journal as rows: the statements that store them, prepared once.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/journal.h"
#include "results_db/connection.h"

namespace deft::results_db {

// A line that no trial of ours wrote, distinguished from a database that could not take it.
struct BadLine {
    std::string why;
};

// The line is complete, and later lines are not this trial's.
struct AnotherTrial {
    std::string why;
};

// Rows of an attempt, and the position to which its journal has been read.
struct AttemptPosition {
    std::int64_t bytes = 0, lines = 0, last_step = 0, code_id = 0;
    std::string workdir, config_hash;
};

class JournalRows {
 public:
    JournalRows(Connection& connection, std::int64_t attempt_id, const AttemptPosition& position);

    // A point at or before one already stored means that the trial resumed from a checkpoint before it: what came after
    // is measured again.
    void add(const journal::TrainPoint& point);
    // The newest epochs replace the earlier ones: they only grow.
    void add(const journal::Sampling& sampling);
    void add(const journal::ExpertLoad& load);
    void add(const journal::Evaluation& score);
    void add(const journal::Scored& scored);
    void add(const journal::Artifact& artifact);
    void add(const journal::Started& started);
    void add(const journal::Ended& ended);
    void add(const journal::Spent& spent);

    // The row that combines many lines.
    void finish();

 private:
    Connection& connection_;
    std::int64_t attempt_, code_;
    std::string workdir_, config_hash_;
    std::int64_t last_step_;
    std::optional<std::vector<double>> epochs_;
    Statement point_, forget_points_, forget_scores_, add_metric_, sampling_, forget_sampling_, experts_,
        forget_experts_, score_, scored_;
};

}  // namespace deft::results_db
