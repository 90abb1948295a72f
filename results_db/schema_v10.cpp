#include "results_db/schema.h"

namespace deft::results_db {

const char* const kSchemaV10 = R"sql(
-- Processes that trained or scored together; `devices` are those of all of them.
ALTER TABLE attempt ADD COLUMN ranks INTEGER NOT NULL DEFAULT 1 CHECK (ranks > 0);
)sql";

}  // namespace deft::results_db
