#include "results_db/schema.h"

namespace deft::results_db {

const char* const kSchemaV7 = R"sql(
-- A sweep's places may stand in stages. Which trial one starts from is part of its configuration.
ALTER TABLE sweep_member ADD COLUMN stage TEXT NOT NULL DEFAULT '';  -- empty: the sweep has none
ALTER TABLE sweep_member ADD COLUMN seeds TEXT NOT NULL DEFAULT '';  -- of its chain, as in 1.3; empty: the experiment's
)sql";

}  // namespace deft::results_db
