#include "results_db/schema.h"

namespace deft::results_db {

const char* const kSchemaV9 = R"sql(
-- What [start] did not simply copy, as the trial says when it starts; empty: it copied all, or its weights were drawn.
ALTER TABLE attempt ADD COLUMN start_note TEXT NOT NULL DEFAULT '';
-- Parameters that one token meets, in a model with experts; 0: all of them.
ALTER TABLE attempt ADD COLUMN active_parameters INTEGER NOT NULL DEFAULT 0 CHECK (active_parameters >= 0);

-- What each layer of experts did in a logged step.
CREATE TABLE expert_load (
  attempt_id INTEGER NOT NULL REFERENCES attempt(id) ON DELETE CASCADE,
  step INTEGER NOT NULL, layer INTEGER NOT NULL CHECK (layer >= 0),
  dropped REAL, entropy REAL, balance_loss REAL, z_loss REAL,
  nonfinite INTEGER NOT NULL DEFAULT 0,  -- as train_point's, of these four
  load BLOB NOT NULL,                    -- each expert's share of the choices: 32-bit floats, little-endian
  PRIMARY KEY (attempt_id, step, layer)
) STRICT, WITHOUT ROWID;
CREATE VIEW v_expert_load AS
SELECT k.experiment_id, p.* FROM v_kept k CROSS JOIN expert_load p ON p.attempt_id = k.attempt_id
WHERE p.step <= ifnull(k.last_step, 9223372036854775807);
)sql";

}  // namespace deft::results_db
