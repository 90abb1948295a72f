#pragma once
// Inputs of `deft db merge`, and of --from in other commands: files of evidence, and databases of other roots.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "results_db/reader.h"

namespace deft::cli {

// A database, or the root that it is in, gives one text for each of its sweeps, the oldest first. Errors: io; database,
// for a file that is too long for evidence, or a database that is foreign, or of another schema version.
std::vector<results_db::NamedEvidence> read_evidence(const std::vector<std::string>& paths);

// --from FILE...
void add_from(CLI::App& command, std::vector<std::string>& from);

// A sweep's name after the files of --from is a name, not a file: `report --from a.jsonl b.jsonl quickstart`.
void take_name(std::vector<std::string>& from, std::string& name);

// The results of the files, or of the root where there are none. Errors: those of both.
results_db::Reader open_results(const std::string& root, const std::vector<results_db::NamedEvidence>& files);

}  // namespace deft::cli
