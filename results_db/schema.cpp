#include "results_db/schema.h"

#include <array>

namespace deft::results_db {

namespace {

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

CREATE TABLE host (                    -- machines of one speed; hostname, mem_bytes, kernel, os: as last seen
  id INTEGER PRIMARY KEY,
  fingerprint TEXT NOT NULL UNIQUE,    -- results_db/host_key.h
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
  file_sha256 TEXT NOT NULL DEFAULT '',  -- of that text
  overrides_json TEXT NOT NULL DEFAULT '[]',
  created_ms INTEGER NOT NULL,
  use_order INTEGER NOT NULL,          -- grows with each use: the largest is the newest
  title TEXT NOT NULL DEFAULT '',
  scale TEXT NOT NULL DEFAULT 'unknown',  -- empty: the file as written
  baseline TEXT NOT NULL DEFAULT '',   -- a case
  command TEXT NOT NULL DEFAULT '',    -- that trains what is left
  points TEXT NOT NULL DEFAULT '',     -- file and options of `deft run`
  paper TEXT NOT NULL DEFAULT '',      -- the published table beside it
  -- {"table", "claims": [{"claim", "kind", "margin", ...}]}: the rules of judgement when the sweep first ran. Empty: unknown.
  claims_json TEXT NOT NULL DEFAULT '',
  UNIQUE (name, spec_sha256)
) STRICT;

CREATE TABLE experiment (              -- one training, its seed included. Immutable.
  id INTEGER PRIMARY KEY,
  config_hash TEXT NOT NULL UNIQUE,
  variant_hash TEXT NOT NULL,          -- same without the seed: the replicate group
  seed INTEGER NOT NULL,
  config_json TEXT NOT NULL,
  label TEXT NOT NULL,
  created_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX experiment_variant ON experiment(variant_hash, seed);

CREATE TABLE sweep_member (            -- a place of a sweep: a training and the scores asked for; it may serve many
  sweep_id INTEGER NOT NULL REFERENCES sweep(id) ON DELETE CASCADE,
  experiment_id INTEGER NOT NULL REFERENCES experiment(id),
  case_key TEXT NOT NULL,
  axes_json TEXT NOT NULL,
  ordinal INTEGER NOT NULL,
  scores_json TEXT NOT NULL DEFAULT '[]',  -- [{"task", "shots", "key"}], as [eval] asks for them
  stage TEXT NOT NULL DEFAULT '',      -- empty: the sweep has none
  seeds TEXT NOT NULL DEFAULT '',      -- of its chain, as in 1.3; empty: the experiment's
  -- The sweep's file states what the training of an imported model took: imported_model.h. Empty: it is trained.
  imported_json TEXT NOT NULL DEFAULT '',
  -- The data of a case may change, or the program: its place then has another training. The greatest is the newest.
  use_order INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (sweep_id, experiment_id, case_key, axes_json)
) STRICT, WITHOUT ROWID;
CREATE INDEX sweep_member_experiment ON sweep_member(experiment_id);

CREATE TABLE attempt (                 -- training and scoring are attempts of their own
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  experiment_id INTEGER NOT NULL REFERENCES experiment(id),
  number INTEGER NOT NULL CHECK (number > 0),
  kind TEXT NOT NULL DEFAULT 'train' CHECK (kind IN ('train','score')),
  state TEXT NOT NULL
    CHECK (state IN ('leased','running','ok','failed','timeout','preempted','stale','cancelled')),
  fail_class TEXT CHECK (fail_class IN
    ('config','nan','oom_host','oom_gpu','timeout','preempt','crash','io','stale','user','other')),
  code_id INTEGER NOT NULL REFERENCES code(id),
  host_id INTEGER NOT NULL REFERENCES host(id),
  dataset_id INTEGER REFERENCES dataset(id),
  worker TEXT NOT NULL,                -- driver uid and slot
  pid INTEGER, pid_start_ticks INTEGER, boot_id TEXT,   -- distinguish a process from a later one with its pid
  slots_json TEXT NOT NULL DEFAULT '{}',
  argv_json TEXT NOT NULL,
  workdir TEXT NOT NULL,
  spool_bytes INTEGER NOT NULL DEFAULT 0, spool_lines INTEGER NOT NULL DEFAULT 0,  -- ingested prefix of journal.jsonl
  created_ms INTEGER NOT NULL, started_ms INTEGER, ended_ms INTEGER,
  exit_code INTEGER, term_signal INTEGER, error TEXT,
  resumed_from INTEGER REFERENCES attempt(id), resume_step INTEGER,
  total_steps INTEGER, parameters INTEGER, threads INTEGER,
  -- Parameters that one token meets, in a model with experts; 0: all of them.
  active_parameters INTEGER NOT NULL DEFAULT 0 CHECK (active_parameters >= 0),
  -- The part that [start] did not simply copy, as the trial reports when it starts; empty: it copied all, or drew all.
  start_note TEXT NOT NULL DEFAULT '',
  train_seconds REAL,                  -- from the trial's first step, before a checkpoint too
  eval_seconds REAL, cpu_seconds REAL, peak_rss_bytes INTEGER,
  epochs_json TEXT,                    -- draws a sample, by tenths of difficulty, at the newest step
  -- ---------- what it used: a trial's cost is the sum over the attempts that its result was built on ----------
  device TEXT NOT NULL DEFAULT 'cpu' CHECK (device IN ('cpu','cuda')),
  devices INTEGER NOT NULL DEFAULT 1 CHECK (devices > 0),  -- threads, or GPUs; of all ranks
  trials_per_device INTEGER NOT NULL DEFAULT 1 CHECK (trials_per_device > 0),
  ranks INTEGER NOT NULL DEFAULT 1 CHECK (ranks > 0),      -- processes that trained or scored together
  own_seconds REAL CHECK (own_seconds >= 0),               -- of training that it ran itself
  held_seconds REAL CHECK (held_seconds >= 0),             -- of its slot; NULL: unknown
  waited_seconds REAL CHECK (waited_seconds >= 0),         -- the part of these spent waiting; NULL: unknown
  sku TEXT, usd_per_hour REAL CHECK (usd_per_hour >= 0),   -- of one device; NULL: no price
  price_source TEXT, price_date_ms INTEGER,
  device_seconds REAL GENERATED ALWAYS AS (own_seconds * devices / trials_per_device) VIRTUAL,
  usd REAL GENERATED ALWAYS AS (own_seconds * devices / trials_per_device / 3600.0 * usd_per_hour) VIRTUAL,
  libraries_json TEXT NOT NULL DEFAULT '{}',  -- {"oneDNN": "2.6.3"}: as loaded
  machine_json TEXT NOT NULL DEFAULT '{}',    -- properties of its host that do not decide speed
  UNIQUE (experiment_id, number),
  CHECK ((state IN ('leased','running')) = (ended_ms IS NULL))
) STRICT;
CREATE UNIQUE INDEX attempt_one_live ON attempt(experiment_id) WHERE state IN ('leased','running');

-- The work that an attempt had on the disk up to a step, and its own time for it.
CREATE TABLE spent (
  attempt_id INTEGER NOT NULL REFERENCES attempt(id) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  elapsed_seconds REAL NOT NULL CHECK (elapsed_seconds >= 0),  -- since it started
  train_seconds REAL NOT NULL CHECK (train_seconds >= 0),
  eval_seconds REAL NOT NULL CHECK (eval_seconds >= 0),
  waited_seconds REAL NOT NULL CHECK (waited_seconds >= 0),
  PRIMARY KEY (attempt_id, step)
) STRICT, WITHOUT ROWID;

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
  -- Payload that the ranks sent each other in that step, and the part of it that went to experts and came back.
  sent_bytes INTEGER NOT NULL DEFAULT 0 CHECK (sent_bytes >= 0),
  expert_bytes INTEGER NOT NULL DEFAULT 0 CHECK (expert_bytes >= 0),
  PRIMARY KEY (attempt_id, step)
) STRICT, WITHOUT ROWID;

-- Totals of the samples drawn from the training data up to a step.
CREATE TABLE sampling_point (
  attempt_id INTEGER NOT NULL REFERENCES attempt(id) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  pool INTEGER NOT NULL,               -- samples that are admitted
  drawn INTEGER NOT NULL, repeated INTEGER NOT NULL,
  cut_tokens INTEGER NOT NULL, padded_tokens INTEGER NOT NULL,
  PRIMARY KEY (attempt_id, step)
) STRICT, WITHOUT ROWID;

-- Statistics of each layer of experts in a logged step.
CREATE TABLE expert_load (
  attempt_id INTEGER NOT NULL REFERENCES attempt(id) ON DELETE CASCADE,
  step INTEGER NOT NULL, layer INTEGER NOT NULL CHECK (layer >= 0),
  dropped REAL, entropy REAL, balance_loss REAL, z_loss REAL,
  nonfinite INTEGER NOT NULL DEFAULT 0,  -- as train_point's, of these four
  load BLOB NOT NULL,                    -- each expert's share of the choices: 32-bit floats, little-endian
  PRIMARY KEY (attempt_id, step, layer)
) STRICT, WITHOUT ROWID;

CREATE TABLE metric (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, unit TEXT NOT NULL,
  better TEXT NOT NULL CHECK (better IN ('lower','higher','none')),
  UNIQUE (name, unit, better)
) STRICT;

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

-- A task that was scored whole, by the attempt that did it.
CREATE TABLE score (
  id INTEGER PRIMARY KEY,
  attempt_id INTEGER NOT NULL REFERENCES attempt(id) ON DELETE CASCADE,
  score_key TEXT NOT NULL,             -- of task, records, shots, documents and scoring version
  task TEXT NOT NULL, task_sha256 TEXT NOT NULL,
  shots INTEGER NOT NULL, documents INTEGER NOT NULL,
  step INTEGER NOT NULL, model_sha256 TEXT NOT NULL,  -- of the checkpoint; empty: unknown
  seconds REAL, cut_share REAL, mean_shots REAL,
  -- The task's file alone, and kScoringVersion of base/score_key.h: they show whether the definition changed.
  definition_sha256 TEXT NOT NULL DEFAULT '',  -- empty: unknown
  scoring_version INTEGER NOT NULL DEFAULT 1,
  items BLOB,                          -- zstd of one document's result after another; NULL: none kept
  UNIQUE (attempt_id, score_key)
) STRICT;
CREATE INDEX score_by_key ON score(score_key);

CREATE TABLE evaluation (              -- one metric of a scored task
  id INTEGER PRIMARY KEY,
  attempt_id INTEGER NOT NULL REFERENCES attempt(id) ON DELETE CASCADE,
  checkpoint_id INTEGER REFERENCES artifact(id), step INTEGER NOT NULL DEFAULT -1,
  code_id INTEGER NOT NULL REFERENCES code(id),        -- of the evaluator
  task TEXT NOT NULL, task_version TEXT NOT NULL, split TEXT NOT NULL, shots INTEGER NOT NULL,
  score_key TEXT NOT NULL DEFAULT '',  -- empty: an older program scored it
  metric_id INTEGER NOT NULL REFERENCES metric(id),
  value REAL, kind INTEGER NOT NULL DEFAULT 0 CHECK (kind IN (0,1,2,3)),  -- 0 finite 1 NaN 2 +inf 3 -inf
  n INTEGER NOT NULL CHECK (n >= 0),
  stderr REAL,                         -- NULL: unknown
  chance REAL,                         -- score of guessing; NULL: none
  UNIQUE (attempt_id, step, task, task_version, split, shots, metric_id, code_id),
  CHECK ((kind = 0) = (value IS NOT NULL))
) STRICT;

-- ---------- benchmarks ----------
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

-- ---------- gates ----------
-- Results that later sweeps are compared with: one row a case and measure. It never moves by itself, and a retired one
-- stays.
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

CREATE TABLE verdict (                 -- append-only
  id INTEGER PRIMARY KEY,
  check_uid TEXT NOT NULL,             -- of the check that gave it: verdicts of one family
  created_ms INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('bench','quality','trend','claim')),
  subject_json TEXT NOT NULL,          -- case and measure, and what they were compared with; or the claim and its sweep
  rule_json TEXT NOT NULL,             -- the thresholds as they were
  effect REAL, ci_lo REAL, ci_hi REAL, -- log ratio of times, or difference of scores and losses
  applied_limit REAL,                  -- in the effect's units
  p_raw REAL, p_adj REAL,
  result TEXT NOT NULL CHECK (result IN ('better','same','worse','unclear','broken','missing','holds','fails')),
  words TEXT NOT NULL                  -- the finding in words
) STRICT;
CREATE INDEX verdict_check ON verdict(check_uid);

-- ---------- rules ----------
CREATE TRIGGER experiment_ro BEFORE UPDATE OF config_hash, variant_hash, seed, config_json ON experiment
  BEGIN SELECT RAISE(ABORT,'experiment is immutable'); END;
-- an ended attempt stays as it ended: a late worker cannot overwrite a reclaim
CREATE TRIGGER attempt_terminal BEFORE UPDATE OF state ON attempt
  WHEN OLD.state NOT IN ('leased','running')
  BEGIN SELECT RAISE(ABORT,'attempt already ended'); END;
CREATE TRIGGER baseline_ro BEFORE UPDATE OF id, name, variant, variant_hash, measure_json, center, lo, hi, n,
  source_json, pinned_by, reason, created_ms ON baseline BEGIN SELECT RAISE(ABORT,'a baseline is immutable'); END;
CREATE TRIGGER baseline_retired BEFORE UPDATE OF retired_ms ON baseline WHEN OLD.retired_ms IS NOT NULL
  BEGIN SELECT RAISE(ABORT,'a retired baseline stays retired'); END;
CREATE TRIGGER baseline_kept BEFORE DELETE ON baseline BEGIN SELECT RAISE(ABORT,'a baseline is kept'); END;
CREATE TRIGGER verdict_ro_u BEFORE UPDATE ON verdict BEGIN SELECT RAISE(ABORT,'verdict is append-only'); END;
CREATE TRIGGER verdict_ro_d BEFORE DELETE ON verdict BEGIN SELECT RAISE(ABORT,'verdict is append-only'); END;

-- ---------- curves ----------
-- The steps of each attempt that the result of its experiment was built on: those after after_step, up to last_step
-- (NULL: all). The result is the newest training that ended ok, or the newest. A step counts until a later attempt, up
-- to the result, has gone on from before it: resume_step is what a trial reports when it starts, 0 from the start. An
-- attempt without one never trained, unless it is of a time before checkpoints and has points.
CREATE VIEW v_kept AS
SELECT a.experiment_id, a.id AS attempt_id, a.id = s.id AS is_result, ifnull(a.resume_step, 0) AS after_step,
  (SELECT min(ifnull(b.resume_step, 0)) FROM attempt b
   WHERE b.experiment_id = a.experiment_id AND b.kind = 'train' AND b.number > a.number AND b.number <= s.number
   AND (b.resume_step IS NOT NULL OR EXISTS (SELECT 1 FROM train_point q WHERE q.attempt_id = b.id))) AS last_step
FROM attempt a
CROSS JOIN attempt s ON s.id = (SELECT c.id FROM attempt c WHERE c.experiment_id = a.experiment_id AND c.kind = 'train'
                                ORDER BY c.state = 'ok' DESC, c.number DESC LIMIT 1)
WHERE a.kind = 'train' AND a.number <= s.number;
CREATE VIEW v_curve AS
SELECT k.experiment_id, p.* FROM v_kept k CROSS JOIN train_point p ON p.attempt_id = k.attempt_id
WHERE p.step <= ifnull(k.last_step, 9223372036854775807);
CREATE VIEW v_sampling AS
SELECT k.experiment_id, p.* FROM v_kept k CROSS JOIN sampling_point p ON p.attempt_id = k.attempt_id
WHERE p.step <= ifnull(k.last_step, 9223372036854775807);
CREATE VIEW v_expert_load AS
SELECT k.experiment_id, p.* FROM v_kept k CROSS JOIN expert_load p ON p.attempt_id = k.attempt_id
WHERE p.step <= ifnull(k.last_step, 9223372036854775807);
)sql";

// An attempt may run on another machine than its driver, as a job of a batch system, and a node may fail under it.
const char* const kSchemaV2 = R"sql(
CREATE TABLE attempt_with_place (                 -- training and scoring are attempts of their own
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  experiment_id INTEGER NOT NULL REFERENCES experiment(id),
  number INTEGER NOT NULL CHECK (number > 0),
  kind TEXT NOT NULL DEFAULT 'train' CHECK (kind IN ('train','score')),
  state TEXT NOT NULL
    CHECK (state IN ('leased','running','ok','failed','timeout','preempted','stale','cancelled')),
  fail_class TEXT CHECK (fail_class IN
    ('config','nan','oom_host','oom_gpu','timeout','preempt','node','crash','io','stale','user','other')),
  code_id INTEGER NOT NULL REFERENCES code(id),
  host_id INTEGER NOT NULL REFERENCES host(id),
  dataset_id INTEGER REFERENCES dataset(id),
  worker TEXT NOT NULL,                -- driver uid and slot
  pid INTEGER, pid_start_ticks INTEGER, boot_id TEXT,   -- distinguish a process from a later one with its pid
  slots_json TEXT NOT NULL DEFAULT '{}',
  argv_json TEXT NOT NULL,
  workdir TEXT NOT NULL,
  spool_bytes INTEGER NOT NULL DEFAULT 0, spool_lines INTEGER NOT NULL DEFAULT 0,  -- ingested prefix of journal.jsonl
  created_ms INTEGER NOT NULL, started_ms INTEGER, ended_ms INTEGER,
  exit_code INTEGER, term_signal INTEGER, error TEXT,
  resumed_from INTEGER REFERENCES attempt(id), resume_step INTEGER,
  total_steps INTEGER, parameters INTEGER, threads INTEGER,
  -- Parameters that one token meets, in a model with experts; 0: all of them.
  active_parameters INTEGER NOT NULL DEFAULT 0 CHECK (active_parameters >= 0),
  -- The part that [start] did not simply copy, as the trial reports when it starts; empty: it copied all, or drew all.
  start_note TEXT NOT NULL DEFAULT '',
  train_seconds REAL,                  -- from the trial's first step, before a checkpoint too
  eval_seconds REAL, cpu_seconds REAL, peak_rss_bytes INTEGER,
  epochs_json TEXT,                    -- draws a sample, by tenths of difficulty, at the newest step
  -- ---------- what it used: a trial's cost is the sum over the attempts that its result was built on ----------
  device TEXT NOT NULL DEFAULT 'cpu' CHECK (device IN ('cpu','cuda')),
  devices INTEGER NOT NULL DEFAULT 1 CHECK (devices > 0),  -- threads, or GPUs; of all ranks
  trials_per_device INTEGER NOT NULL DEFAULT 1 CHECK (trials_per_device > 0),
  ranks INTEGER NOT NULL DEFAULT 1 CHECK (ranks > 0),      -- processes that trained or scored together
  own_seconds REAL CHECK (own_seconds >= 0),               -- of training that it ran itself
  held_seconds REAL CHECK (held_seconds >= 0),             -- of its slot; NULL: unknown
  waited_seconds REAL CHECK (waited_seconds >= 0),         -- the part of these spent waiting; NULL: unknown
  sku TEXT, usd_per_hour REAL CHECK (usd_per_hour >= 0),   -- of one device; NULL: no price
  price_source TEXT, price_date_ms INTEGER,
  device_seconds REAL GENERATED ALWAYS AS (own_seconds * devices / trials_per_device) VIRTUAL,
  usd REAL GENERATED ALWAYS AS (own_seconds * devices / trials_per_device / 3600.0 * usd_per_hour) VIRTUAL,
  libraries_json TEXT NOT NULL DEFAULT '{}',  -- {"oneDNN": "2.6.3"}: as loaded
  machine_json TEXT NOT NULL DEFAULT '{}',    -- properties of its host that do not decide speed
  -- ---------- where it ran; host_id is that machine ----------
  launcher TEXT NOT NULL DEFAULT 'local',     -- that started it
  job TEXT NOT NULL DEFAULT '',               -- of a batch system; Slurm's "12.3" is a step
  nodes TEXT NOT NULL DEFAULT '',             -- of that job or step, as the batch system lists them
  queue_seconds REAL CHECK (queue_seconds >= 0),  -- from its submission to its start; NULL: it did not wait, or unknown
  UNIQUE (experiment_id, number),
  CHECK ((state IN ('leased','running')) = (ended_ms IS NULL))
) STRICT;
INSERT INTO attempt_with_place (
  id, uid, experiment_id, number, kind, state, fail_class, code_id, host_id, dataset_id, worker, pid,
  pid_start_ticks, boot_id, slots_json, argv_json, workdir, spool_bytes, spool_lines, created_ms, started_ms,
  ended_ms, exit_code, term_signal, error, resumed_from, resume_step, total_steps, parameters, threads,
  active_parameters, start_note, train_seconds, eval_seconds, cpu_seconds, peak_rss_bytes, epochs_json, device,
  devices, trials_per_device, ranks, own_seconds, held_seconds, waited_seconds, sku, usd_per_hour, price_source,
  price_date_ms, libraries_json, machine_json)
SELECT
  id, uid, experiment_id, number, kind, state, fail_class, code_id, host_id, dataset_id, worker, pid,
  pid_start_ticks, boot_id, slots_json, argv_json, workdir, spool_bytes, spool_lines, created_ms, started_ms,
  ended_ms, exit_code, term_signal, error, resumed_from, resume_step, total_steps, parameters, threads,
  active_parameters, start_note, train_seconds, eval_seconds, cpu_seconds, peak_rss_bytes, epochs_json, device,
  devices, trials_per_device, ranks, own_seconds, held_seconds, waited_seconds, sku, usd_per_hour, price_source,
  price_date_ms, libraries_json, machine_json
FROM attempt;
DROP TABLE attempt;
ALTER TABLE attempt_with_place RENAME TO attempt;
CREATE UNIQUE INDEX attempt_one_live ON attempt(experiment_id) WHERE state IN ('leased','running');
CREATE TRIGGER attempt_terminal BEFORE UPDATE OF state ON attempt
  WHEN OLD.state NOT IN ('leased','running')
  BEGIN SELECT RAISE(ABORT,'attempt already ended'); END;
)sql";

}  // namespace

std::span<const Migration> migrations() {
    static const std::array<Migration, 2> steps = {Migration{1, "first schema", kSchemaV1},
                                                   Migration{2, "where attempts ran", kSchemaV2}};
    return steps;
}

}  // namespace deft::results_db
