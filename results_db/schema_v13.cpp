#include "results_db/schema.h"

namespace deft::results_db {

const char* const kSchemaV13 = R"sql(
-- {"table", "claims": [{"claim", "kind", "margin", ...}]}: what the sweep was to be judged by when it first ran. Empty: unknown.
ALTER TABLE sweep ADD COLUMN claims_json TEXT NOT NULL DEFAULT '';
)sql";

}  // namespace deft::results_db
