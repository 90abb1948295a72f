#include "results_db/schema.h"

namespace deft::results_db {

const char* const kSchemaV8 = R"sql(
-- A place of a sweep may be a model that is imported and not trained. What its training took is stated by the sweep's
-- file, and may be stated anew: it is of the place, not of the experiment.
ALTER TABLE sweep_member ADD COLUMN imported_json TEXT NOT NULL DEFAULT '';  -- imported_model.h; empty: it is trained
)sql";

}  // namespace deft::results_db
