#pragma once
// The contents of the root's database when a run begins. The database may be absent, empty, half-created or older.

#include <memory>
#include <optional>
#include <string>

#include "results_db/reader.h"
#include "results_db/writer.h"
#include "sweeps/driver/driver.h"
#include "sweeps/spec/spec.h"

namespace deft::sweeps {

// Null without a database, and for a dry run without a schema in it. A run first creates or migrates the schema; a dry
// run writes nothing. Errors: those of results_db::Writer and results_db::Reader.
std::unique_ptr<results_db::Reader> stored_results(const DriverOptions& options);

// The full name of that sweep, by name and hash; nothing where it is not stored.
std::optional<std::string> stored_name(const results_db::Reader& reader, const Spec& spec);

}  // namespace deft::sweeps
