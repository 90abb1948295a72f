#include "results_db/schema.h"

namespace deft::results_db {

const char* const kSchemaV2 = R"sql(
-- The curve of an experiment over its attempts, up to the one that stands for it (s: the newest that ended ok, or the
-- newest). A point counts until a later one of them has gone on from before it: resume_step is what a trial says when it
-- starts, 0 from the start. An attempt without one never trained, unless it is of a time before checkpoints and has points.
DROP VIEW v_curve;
CREATE VIEW v_curve AS
SELECT a.experiment_id, p.* FROM attempt a
CROSS JOIN attempt s ON s.id = (SELECT c.id FROM attempt c WHERE c.experiment_id = a.experiment_id
                                ORDER BY c.state = 'ok' DESC, c.number DESC LIMIT 1)
CROSS JOIN train_point p ON p.attempt_id = a.id
WHERE a.number <= s.number AND NOT EXISTS (
  SELECT 1 FROM attempt b WHERE b.experiment_id = a.experiment_id AND b.number > a.number AND b.number <= s.number
  AND (b.resume_step < p.step
       OR (b.resume_step IS NULL AND EXISTS (SELECT 1 FROM train_point q WHERE q.attempt_id = b.id))));
)sql";

const char* const kSchemaV3 = R"sql(
CREATE TABLE bench_case (
  id INTEGER PRIMARY KEY,
  case_hash TEXT NOT NULL UNIQUE,      -- sha256(kernel|impl|params|version)
  kernel TEXT NOT NULL,                -- "linear_forward"
  impl TEXT NOT NULL,                  -- "cpu"
  params_json TEXT NOT NULL,           -- sizes and variant, caches, threads
  version INTEGER NOT NULL,            -- a new one begins a new series
  flops REAL NOT NULL, bytes REAL NOT NULL
) STRICT;
CREATE TABLE bench_session (           -- one run of a program that measures; append-only
  id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE,
  mode TEXT NOT NULL CHECK (mode IN ('single','ab','import')),
  host_id INTEGER NOT NULL REFERENCES host(id),
  started_ms INTEGER NOT NULL, ended_ms INTEGER NOT NULL,
  env_json TEXT NOT NULL,              -- peaks, load, pinned cores
  settings_json TEXT NOT NULL
) STRICT;
CREATE TABLE bench_result (
  id INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES bench_session(id) ON DELETE CASCADE,
  case_id INTEGER NOT NULL REFERENCES bench_case(id),
  code_id INTEGER NOT NULL REFERENCES code(id),
  arm TEXT NOT NULL CHECK (arm IN ('A','B')),
  n INTEGER NOT NULL CHECK (n > 0),
  samples BLOB NOT NULL,               -- f64 little-endian, seconds of one run, in the order measured
  min REAL NOT NULL, median REAL NOT NULL, mean REAL NOT NULL, mad REAL NOT NULL,
  verified INTEGER NOT NULL CHECK (verified IN (0,1)),  -- the output met the reference in the same run
  UNIQUE (session_id, case_id, arm), CHECK (length(samples) = 8 * n)
) STRICT;
CREATE INDEX bench_result_series ON bench_result(case_id, code_id);
)sql";

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
