#include "results_db/schema.h"

namespace deft::results_db {

// Steps that SQL cannot do are in results_db/migrate_v6.cpp.
const char* const kSchemaV6 = R"sql(
-- Training and scoring are attempts of their own: an experiment is what decides the weights, and a score is added to it.
ALTER TABLE attempt ADD COLUMN kind TEXT NOT NULL DEFAULT 'train' CHECK (kind IN ('train','score'));

-- Hashes of before, which also told what was scored: run folders and checkpoints are named by them.
CREATE TABLE former_hash (
  config_hash TEXT PRIMARY KEY,
  experiment_id INTEGER NOT NULL REFERENCES experiment(id)
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
  items BLOB,                          -- zstd of one document's result after another; NULL: none kept
  UNIQUE (attempt_id, score_key)
) STRICT;
CREATE INDEX score_by_key ON score(score_key);
ALTER TABLE evaluation ADD COLUMN score_key TEXT NOT NULL DEFAULT '';  -- empty: an older program scored it

-- A place of a sweep is a training and what is asked of it.
CREATE TABLE new_sweep_member (
  sweep_id INTEGER NOT NULL REFERENCES sweep(id) ON DELETE CASCADE,
  experiment_id INTEGER NOT NULL REFERENCES experiment(id),
  case_key TEXT NOT NULL,
  axes_json TEXT NOT NULL,
  ordinal INTEGER NOT NULL,
  scores_json TEXT NOT NULL DEFAULT '[]',  -- [{"task", "shots", "key"}], as [eval] asks for them
  PRIMARY KEY (sweep_id, experiment_id, case_key, axes_json)
) STRICT, WITHOUT ROWID;
INSERT INTO new_sweep_member (sweep_id, experiment_id, case_key, axes_json, ordinal)
SELECT sweep_id, experiment_id, case_key, axes_json, ordinal FROM sweep_member;
DROP TABLE sweep_member;
ALTER TABLE new_sweep_member RENAME TO sweep_member;
CREATE INDEX sweep_member_experiment ON sweep_member(experiment_id);

-- As before, among the attempts that train.
DROP VIEW v_sampling;
DROP VIEW v_curve;
DROP VIEW v_kept;
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

-- What the step behind this one writes anew, and it alone.
DROP TRIGGER IF EXISTS experiment_ro;
DROP TRIGGER IF EXISTS baseline_ro;
)sql";

const char* const kTriggersV6 = R"sql(
CREATE TRIGGER experiment_ro BEFORE UPDATE OF config_hash, variant_hash, seed, config_json ON experiment
  BEGIN SELECT RAISE(ABORT,'experiment is immutable'); END;
CREATE TRIGGER baseline_ro BEFORE UPDATE OF id, name, variant, variant_hash, measure_json, center, lo, hi, n,
  source_json, pinned_by, reason, created_ms ON baseline BEGIN SELECT RAISE(ABORT,'a baseline is immutable'); END;
)sql";

}  // namespace deft::results_db
