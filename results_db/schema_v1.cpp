#include "results_db/schema.h"

namespace deft::results_db {

// Never edited once released: later changes are later migrations.
const char* const kSchemaV1 = R"sql(
-- Columns named *_json are checked before they are bound: json_valid() counts as unsafe in an untrusted schema.
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE migration (
  version INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, applied_ms INTEGER NOT NULL
) STRICT;

-- ---------- provenance, by content ----------
CREATE TABLE code (
  id INTEGER PRIMARY KEY,
  fingerprint TEXT NOT NULL UNIQUE,    -- sha256(git_sha|diff_sha256|binary_sha256)
  git_sha TEXT NOT NULL, git_branch TEXT NOT NULL,
  dirty INTEGER NOT NULL CHECK (dirty IN (0,1)),
  diff_sha256 TEXT NOT NULL, diff_zst BLOB,     -- zstd of the diff's text
  binary_sha256 TEXT NOT NULL,
  compiler TEXT NOT NULL, cxx_flags TEXT NOT NULL, build_type TEXT NOT NULL
) STRICT;

CREATE TABLE host (
  id INTEGER PRIMARY KEY,
  fingerprint TEXT NOT NULL UNIQUE,    -- sha256 of all columns below
  hostname TEXT NOT NULL, arch TEXT NOT NULL, cpu_model TEXT NOT NULL,
  cores INTEGER NOT NULL, threads INTEGER NOT NULL, mem_bytes INTEGER NOT NULL,
  kernel TEXT NOT NULL, os TEXT NOT NULL,
  extra_json TEXT NOT NULL DEFAULT '{}'
) STRICT;

CREATE TABLE dataset (
  id INTEGER PRIMARY KEY,
  sha256 TEXT NOT NULL, name TEXT NOT NULL,
  n_bytes INTEGER, n_tokens INTEGER,
  UNIQUE (sha256, name)
) STRICT;

-- ---------- what to run ----------
CREATE TABLE sweep (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  spec_sha256 TEXT NOT NULL,           -- of the fully resolved spec
  spec_toml TEXT NOT NULL,
  overrides_json TEXT NOT NULL DEFAULT '[]',
  created_ms INTEGER NOT NULL,
  use_order INTEGER NOT NULL,          -- grows with each use: the largest is the newest
  UNIQUE (name, spec_sha256)
) STRICT;

CREATE TABLE experiment (              -- one point: config + seed. Immutable.
  id INTEGER PRIMARY KEY,
  config_hash TEXT NOT NULL UNIQUE,
  variant_hash TEXT NOT NULL,          -- same without the seed: the replicate group
  seed INTEGER NOT NULL,
  config_json TEXT NOT NULL,
  label TEXT NOT NULL,
  created_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX experiment_variant ON experiment(variant_hash, seed);

CREATE TABLE sweep_member (            -- an experiment may serve many sweeps, and several cases of one
  sweep_id INTEGER NOT NULL REFERENCES sweep(id) ON DELETE CASCADE,
  experiment_id INTEGER NOT NULL REFERENCES experiment(id),
  case_key TEXT NOT NULL,
  ordinal INTEGER NOT NULL,
  axes_json TEXT NOT NULL,
  PRIMARY KEY (sweep_id, experiment_id, case_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX sweep_member_experiment ON sweep_member(experiment_id);

CREATE TABLE attempt (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  experiment_id INTEGER NOT NULL REFERENCES experiment(id),
  number INTEGER NOT NULL CHECK (number > 0),
  state TEXT NOT NULL
    CHECK (state IN ('leased','running','ok','failed','timeout','preempted','stale','cancelled')),
  fail_class TEXT CHECK (fail_class IN
    ('config','nan','oom_host','oom_gpu','timeout','preempt','crash','io','stale','user','other')),
  code_id INTEGER NOT NULL REFERENCES code(id),
  host_id INTEGER NOT NULL REFERENCES host(id),
  dataset_id INTEGER REFERENCES dataset(id),
  worker TEXT NOT NULL,                -- driver uid and slot
  pid INTEGER, pid_start_ticks INTEGER, boot_id TEXT,   -- tell a process from a later one with its pid
  slots_json TEXT NOT NULL DEFAULT '{}',
  argv_json TEXT NOT NULL,
  workdir TEXT NOT NULL,
  spool_bytes INTEGER NOT NULL DEFAULT 0, spool_lines INTEGER NOT NULL DEFAULT 0,  -- ingested prefix of journal.jsonl
  created_ms INTEGER NOT NULL, started_ms INTEGER, ended_ms INTEGER,
  heartbeat_ms INTEGER, lease_until_ms INTEGER NOT NULL,
  exit_code INTEGER, term_signal INTEGER, error TEXT,
  resumed_from INTEGER REFERENCES attempt(id), resume_step INTEGER,
  total_steps INTEGER, parameters INTEGER, threads INTEGER,
  train_seconds REAL, eval_seconds REAL, cpu_seconds REAL, peak_rss_bytes INTEGER,
  UNIQUE (experiment_id, number),
  CHECK ((state IN ('leased','running')) = (ended_ms IS NULL))
) STRICT;
CREATE UNIQUE INDEX attempt_one_live ON attempt(experiment_id) WHERE state IN ('leased','running');
CREATE INDEX attempt_lease ON attempt(lease_until_ms) WHERE state IN ('leased','running');

-- ---------- results ----------
CREATE TABLE train_point (
  attempt_id INTEGER NOT NULL REFERENCES attempt(id) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  tokens INTEGER NOT NULL,             -- input, repeats counted
  unique_tokens INTEGER NOT NULL,      -- distinct corpus tokens
  layer_tokens INTEGER NOT NULL,       -- layer-averaged
  flops REAL,
  wall_ms INTEGER NOT NULL,            -- training clock, evaluation excluded
  loss REAL, lr REAL, grad_norm REAL, tok_per_s REAL,
  seqlen INTEGER NOT NULL, kept_tokens INTEGER NOT NULL,
  -- SQLite stores NaN as NULL: two bits a value (0 finite, 1 NaN, 2 +inf, 3 -inf), from the lowest:
  -- flops, loss, lr, grad_norm, tok_per_s
  nonfinite INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (attempt_id, step)
) STRICT, WITHOUT ROWID;

CREATE TABLE metric (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, unit TEXT NOT NULL,
  better TEXT NOT NULL CHECK (better IN ('lower','higher','none')),
  UNIQUE (name, unit, better)
) STRICT;

CREATE TABLE metric_point (            -- any other series, long form
  attempt_id INTEGER NOT NULL REFERENCES attempt(id) ON DELETE CASCADE,
  metric_id INTEGER NOT NULL REFERENCES metric(id),
  step INTEGER NOT NULL, value REAL,
  kind INTEGER NOT NULL DEFAULT 0 CHECK (kind IN (0,1,2,3)),   -- 0 finite 1 NaN 2 +inf 3 -inf
  PRIMARY KEY (attempt_id, metric_id, step), CHECK ((kind = 0) = (value IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE artifact (
  id INTEGER PRIMARY KEY, sha256 TEXT NOT NULL, bytes INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('checkpoint','log','config','plot','profile','eval_items','report','other')),
  path TEXT NOT NULL,                  -- relative to the root
  present INTEGER NOT NULL DEFAULT 1, UNIQUE (sha256, path)
) STRICT;

CREATE TABLE attempt_artifact (
  attempt_id INTEGER NOT NULL REFERENCES attempt(id) ON DELETE CASCADE,
  artifact_id INTEGER NOT NULL REFERENCES artifact(id),
  role TEXT NOT NULL, step INTEGER NOT NULL DEFAULT -1,
  PRIMARY KEY (attempt_id, role, step, artifact_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE evaluation (
  id INTEGER PRIMARY KEY,
  attempt_id INTEGER NOT NULL REFERENCES attempt(id) ON DELETE CASCADE,
  checkpoint_id INTEGER REFERENCES artifact(id), step INTEGER NOT NULL DEFAULT -1,
  code_id INTEGER NOT NULL REFERENCES code(id),        -- of the evaluator
  task TEXT NOT NULL, task_version TEXT NOT NULL, split TEXT NOT NULL, shots INTEGER NOT NULL,
  metric_id INTEGER NOT NULL REFERENCES metric(id),
  value REAL, kind INTEGER NOT NULL DEFAULT 0 CHECK (kind IN (0,1,2,3)),
  n INTEGER NOT NULL CHECK (n >= 0),
  stderr REAL,                         -- NULL: unknown
  chance REAL,                         -- score of guessing; NULL: none
  UNIQUE (attempt_id, step, task, task_version, split, shots, metric_id, code_id),
  CHECK ((kind = 0) = (value IS NOT NULL))
) STRICT;

CREATE TABLE price (
  sku TEXT NOT NULL, valid_from_ms INTEGER NOT NULL, usd_per_hour REAL NOT NULL CHECK (usd_per_hour >= 0),
  source TEXT NOT NULL, PRIMARY KEY (sku, valid_from_ms)
) STRICT, WITHOUT ROWID;

CREATE TABLE cost (
  attempt_id INTEGER PRIMARY KEY REFERENCES attempt(id) ON DELETE CASCADE,
  sku TEXT NOT NULL, devices INTEGER NOT NULL, device_seconds REAL NOT NULL,
  usd REAL,                            -- NULL: no price
  usd_per_hour REAL, price_source TEXT, price_valid_from_ms INTEGER,  -- as applied, kept with the result
  model_flops REAL,
  CHECK ((usd IS NULL) = (usd_per_hour IS NULL))
) STRICT;

CREATE TABLE event (                   -- audit log
  id INTEGER PRIMARY KEY AUTOINCREMENT, ts_ms INTEGER NOT NULL, actor TEXT NOT NULL,
  kind TEXT NOT NULL, ref TEXT NOT NULL, payload TEXT NOT NULL DEFAULT '{}'
) STRICT;

CREATE TABLE driver (                  -- who wrote when; the lock is flock on the sidecar file
  uid TEXT PRIMARY KEY, host TEXT NOT NULL, pid INTEGER NOT NULL, boot_id TEXT NOT NULL,
  started_ms INTEGER NOT NULL, ended_ms INTEGER
) STRICT, WITHOUT ROWID;

CREATE TRIGGER event_ro_u BEFORE UPDATE ON event BEGIN SELECT RAISE(ABORT,'event is append-only'); END;
CREATE TRIGGER event_ro_d BEFORE DELETE ON event BEGIN SELECT RAISE(ABORT,'event is append-only'); END;
CREATE TRIGGER experiment_ro BEFORE UPDATE OF config_hash, variant_hash, seed, config_json ON experiment
  BEGIN SELECT RAISE(ABORT,'experiment is immutable'); END;
-- an ended attempt stays as it ended: a late worker cannot overwrite a reclaim
CREATE TRIGGER attempt_terminal BEFORE UPDATE OF state ON attempt
  WHEN OLD.state NOT IN ('leased','running')
  BEGIN SELECT RAISE(ABORT,'attempt already ended'); END;

-- the result of each experiment: its newest attempt that ended ok
CREATE VIEW v_result AS
SELECT e.id AS experiment_id, e.variant_hash, e.seed, e.label, a.id AS attempt_id, a.number, a.code_id
FROM experiment e JOIN attempt a ON a.experiment_id = e.id AND a.state = 'ok'
WHERE a.number = (SELECT max(number) FROM attempt b WHERE b.experiment_id = e.id AND b.state = 'ok');

-- stitched curve over resumed attempts: a point counts until a later attempt resumed before it
CREATE VIEW v_curve AS
SELECT a.experiment_id, p.* FROM train_point p JOIN attempt a ON a.id = p.attempt_id
WHERE NOT EXISTS (SELECT 1 FROM attempt b WHERE b.experiment_id = a.experiment_id AND b.number > a.number
                  AND b.started_ms IS NOT NULL AND ifnull(b.resume_step, 0) <= p.step);

-- same config and seed finished more than once: a free determinism audit
CREATE VIEW v_replay AS
SELECT e.config_hash, e.label, count(*) AS ok_runs, count(DISTINCT a.host_id) AS hosts,
       count(DISTINCT a.code_id) AS codes
FROM experiment e JOIN attempt a ON a.experiment_id = e.id AND a.state = 'ok'
GROUP BY e.id HAVING count(*) > 1;
)sql";

}  // namespace deft::results_db
