#include "results_db/schema.h"

namespace deft::results_db {

const char* const kSchemaV4 = R"sql(
-- What later sweeps are compared with: one row a case and measure. It never moves by itself, and a retired one stays.
CREATE TABLE baseline (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  variant TEXT NOT NULL,               -- "cl[budget_fraction=0.5]": a trial's name without its seed
  variant_hash TEXT NOT NULL,          -- of the configuration without its seed
  measure_json TEXT NOT NULL,          -- which score or curve
  center REAL NOT NULL,                -- mean over the seeds
  lo REAL NOT NULL, hi REAL NOT NULL,  -- their smallest and largest value
  n INTEGER NOT NULL CHECK (n > 0),    -- seeds
  source_json TEXT NOT NULL,           -- each seed's value and attempt; the sweep
  pinned_by TEXT NOT NULL, reason TEXT NOT NULL,
  created_ms INTEGER NOT NULL, retired_ms INTEGER
) STRICT;
CREATE UNIQUE INDEX baseline_live ON baseline(name, variant, measure_json) WHERE retired_ms IS NULL;
CREATE TRIGGER baseline_ro BEFORE UPDATE OF id, name, variant, variant_hash, measure_json, center, lo, hi, n,
  source_json, pinned_by, reason, created_ms ON baseline BEGIN SELECT RAISE(ABORT,'a baseline is immutable'); END;
CREATE TRIGGER baseline_retired BEFORE UPDATE OF retired_ms ON baseline WHEN OLD.retired_ms IS NOT NULL
  BEGIN SELECT RAISE(ABORT,'a retired baseline stays retired'); END;
CREATE TRIGGER baseline_kept BEFORE DELETE ON baseline BEGIN SELECT RAISE(ABORT,'a baseline is kept'); END;

CREATE TABLE verdict (                 -- append-only
  id INTEGER PRIMARY KEY,
  check_uid TEXT NOT NULL,             -- of the check that gave it: verdicts of one family
  created_ms INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('bench','quality','trend')),
  subject_json TEXT NOT NULL,          -- case and measure, and what they were compared with
  rule_json TEXT NOT NULL,             -- the thresholds as they were
  effect REAL, ci_lo REAL, ci_hi REAL, -- log ratio of times, or difference of scores and losses
  applied_limit REAL,                  -- in the effect's units
  p_raw REAL, p_adj REAL,
  result TEXT NOT NULL CHECK (result IN ('better','same','worse','unclear','broken','missing')),
  words TEXT NOT NULL                  -- the finding as it was told
) STRICT;
CREATE INDEX verdict_check ON verdict(check_uid);
CREATE TRIGGER verdict_ro_u BEFORE UPDATE ON verdict BEGIN SELECT RAISE(ABORT,'verdict is append-only'); END;
CREATE TRIGGER verdict_ro_d BEFORE DELETE ON verdict BEGIN SELECT RAISE(ABORT,'verdict is append-only'); END;
)sql";

}  // namespace deft::results_db
