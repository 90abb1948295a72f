#pragma once
// The one way to a sweep's results: marks what is stale, separates the trials of a search and joins fine-tunings.

#include <functional>
#include <string>

#include "reporting/analysis/results/results.h"

namespace deft::results_db {
class Reader;
}

namespace deft::reporting {

struct Current;

// The inputs that a stored sweep's results would have now.
using CurrentInputs = std::function<Current(const results_db::StoredSweep&)>;

// Its settings, without parsing its configuration again where the database has parsed it.
Settings settings_of(const results_db::StoredTrial& trial);

// The stored trial with its settings parsed and nothing marked stale.
Trial trial_of(results_db::StoredTrial stored);

// The sweep, checked against its inputs. Reports read results in no other way.
Results load_results(results_db::StoredSweep stored, const CurrentInputs& inputs);
// As above, of the sweep with that name, or NAME@HASH. Errors: as results_db::Reader::sweep().
Results load_results(const results_db::Reader& reader, const std::string& selector, const CurrentInputs& inputs);

// Inputs of which nothing is known, for answers that depend on no input.
CurrentInputs unknown_inputs();

}  // namespace deft::reporting
