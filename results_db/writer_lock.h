#pragma once
// Whether somebody writes a database now.

#include <filesystem>

namespace deft::results_db {

// Whether a process of this machine holds the writer's lock of that database. Takes no lock itself, which would refuse
// a writer that starts meanwhile.
bool has_writer(const std::filesystem::path& database);

}  // namespace deft::results_db
