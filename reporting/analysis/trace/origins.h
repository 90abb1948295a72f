#pragma once
// Where each cell of a comparison comes from: the trials of its row and the commands that repeat them.

#include <string>
#include <vector>

#include "reporting/analysis/results/rows.h"
#include "reporting/table.h"
#include "results_db/rows.h"

namespace deft::reporting {

// One row a trial of that row: seed, hashes, commit, host, dataset, checkpoint, attempts.
Table provenance_table(const Row& row, const std::vector<results_db::Checkpoint>& checkpoints);

// The commands that train a row of a comparison again, from the same commit.

// A word as a shell would take it back.
std::string shell_word(const std::string& word);

// Words as a shell would take them from a line that shell_word() and blanks have made. Errors: database, for a quote
// that is not closed: such lines are kept there.
std::vector<std::string> shell_words(const std::string& line);

// The command that trains, with further options of `deft run` after the row's own. `root`: where to, a word already
// quoted. Empty where the sweep's file is unknown.
std::string repeat_command(const Row& row, const std::string& points, const std::string& options,
                           const std::string& root);

// Lines for a shell. `points`: the sweep's file and options as `deft run` takes them, words already quoted.
// Empty where the sweep's file is unknown.
std::vector<std::string> repeat_commands(const Row& row, const std::string& points);

}  // namespace deft::reporting
