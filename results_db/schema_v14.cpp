#include "results_db/schema.h"

namespace deft::results_db {

const char* const kSchemaV14 = R"sql(
-- Seconds that it held its slot, and of them those that it waited; NULL: unknown, as of programs before.
ALTER TABLE attempt ADD COLUMN held_seconds REAL CHECK (held_seconds >= 0);
ALTER TABLE attempt ADD COLUMN waited_seconds REAL CHECK (waited_seconds >= 0);

-- What it had spent, of its own, when what it had done up to a step was on the disk.
CREATE TABLE spent (
  attempt_id INTEGER NOT NULL REFERENCES attempt(id) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  elapsed_seconds REAL NOT NULL CHECK (elapsed_seconds >= 0),  -- since it started
  train_seconds REAL NOT NULL CHECK (train_seconds >= 0),
  eval_seconds REAL NOT NULL CHECK (eval_seconds >= 0),
  waited_seconds REAL NOT NULL CHECK (waited_seconds >= 0),
  PRIMARY KEY (attempt_id, step)
) STRICT, WITHOUT ROWID;
)sql";

}  // namespace deft::results_db
