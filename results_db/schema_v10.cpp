#include "results_db/schema.h"

namespace deft::results_db {

const char* const kSchemaV10 = R"sql(
-- Processes that trained or scored together; `devices` are those of all of them.
ALTER TABLE attempt ADD COLUMN ranks INTEGER NOT NULL DEFAULT 1 CHECK (ranks > 0);
-- Payload that they sent each other in that step, and of it what went to experts and came back.
ALTER TABLE train_point ADD COLUMN sent_bytes INTEGER NOT NULL DEFAULT 0 CHECK (sent_bytes >= 0);
ALTER TABLE train_point ADD COLUMN expert_bytes INTEGER NOT NULL DEFAULT 0 CHECK (expert_bytes >= 0);
)sql";

}  // namespace deft::results_db
