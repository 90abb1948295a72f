#pragma once
// What `deft db merge` and --from of `deft report` and `deft check claims` read: files of evidence, and databases of other roots.

#include <string>
#include <vector>

#include "results_db/store.h"

namespace deft::cli {

// A database, or the root that it is in, gives one text for each of its sweeps, the oldest first. Errors: io; database,
// for a file that is too long for evidence, or a database that is foreign, or of another schema version.
std::vector<results_db::NamedEvidence> read_evidence(const std::vector<std::string>& paths);

}  // namespace deft::cli
