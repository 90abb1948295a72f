#include "results_db/schema.h"

namespace deft::results_db {

// Steps that SQL cannot do are in results_db/migrate_v5.cpp.
const char* const kSchemaV5 = R"sql(
-- What each attempt used, kept with it. A trial's cost is the sum over the attempts that its result was built on.
DROP INDEX attempt_lease;
ALTER TABLE attempt DROP COLUMN heartbeat_ms;
ALTER TABLE attempt DROP COLUMN lease_until_ms;
ALTER TABLE attempt ADD COLUMN device TEXT NOT NULL DEFAULT 'cpu' CHECK (device IN ('cpu','cuda'));
ALTER TABLE attempt ADD COLUMN devices INTEGER NOT NULL DEFAULT 1 CHECK (devices > 0);  -- threads, or GPUs
ALTER TABLE attempt ADD COLUMN trials_per_device INTEGER NOT NULL DEFAULT 1 CHECK (trials_per_device > 0);
-- Seconds of training that it ran itself; train_seconds counts from the trial's first step, before a checkpoint too.
ALTER TABLE attempt ADD COLUMN own_seconds REAL CHECK (own_seconds >= 0);
ALTER TABLE attempt ADD COLUMN sku TEXT;
ALTER TABLE attempt ADD COLUMN usd_per_hour REAL CHECK (usd_per_hour >= 0);             -- of one device; NULL: no price
ALTER TABLE attempt ADD COLUMN price_source TEXT;
ALTER TABLE attempt ADD COLUMN price_date_ms INTEGER;
ALTER TABLE attempt ADD COLUMN device_seconds REAL
  GENERATED ALWAYS AS (own_seconds * devices / trials_per_device) VIRTUAL;
ALTER TABLE attempt ADD COLUMN usd REAL
  GENERATED ALWAYS AS (own_seconds * devices / trials_per_device / 3600.0 * usd_per_hour) VIRTUAL;
ALTER TABLE attempt ADD COLUMN libraries_json TEXT NOT NULL DEFAULT '{}';  -- {"oneDNN": "2.6.3"}: as loaded
ALTER TABLE attempt ADD COLUMN machine_json TEXT NOT NULL DEFAULT '{}';    -- of its host what does not decide speed
ALTER TABLE attempt ADD COLUMN epochs_json TEXT;  -- draws a sample, by tenths of difficulty, at the newest step

UPDATE attempt SET device = CASE json_extract(slots_json, '$.device') WHEN 'cuda' THEN 'cuda' ELSE 'cpu' END;
UPDATE attempt SET
  devices = CASE device WHEN 'cuda' THEN 1
            ELSE max(1, ifnull(json_extract(slots_json, '$.threads'), ifnull(threads, 1))) END,
  trials_per_device = max(1, ifnull(json_extract(slots_json, '$.per_gpu'), 1)),
  sku = (SELECT c.sku FROM cost c WHERE c.attempt_id = attempt.id),
  usd_per_hour = (SELECT c.usd_per_hour FROM cost c WHERE c.attempt_id = attempt.id),
  price_source = (SELECT c.price_source FROM cost c WHERE c.attempt_id = attempt.id),
  price_date_ms = (SELECT c.price_valid_from_ms FROM cost c WHERE c.attempt_id = attempt.id);
-- Version 4 kept the seconds since the first step alone. Those before the checkpoint are what the attempt that was
-- asked to stop had, for it saved at its end, or else the clock of the last point up to the checkpoint's step.
WITH spent AS MATERIALIZED (
  SELECT a.id, CASE WHEN ifnull(a.resume_step, 0) = 0 THEN 0 ELSE ifnull(
    (SELECT b.train_seconds FROM attempt b WHERE b.id = a.resumed_from AND b.state IN ('cancelled','preempted')),
    ifnull((SELECT max(p.wall_ms) / 1000.0 FROM train_point p JOIN attempt b ON b.id = p.attempt_id
            WHERE b.experiment_id = a.experiment_id AND b.number < a.number AND p.step <= a.resume_step), 0))
    END AS seconds,
    ifnull(a.train_seconds, (SELECT max(p.wall_ms) / 1000.0 FROM train_point p WHERE p.attempt_id = a.id)) AS till
  FROM attempt a)
UPDATE attempt SET own_seconds = (SELECT max(0, till - seconds) FROM spent WHERE spent.id = attempt.id);
DROP TABLE cost;
DROP TABLE price;

-- What a report says of a sweep beside its trials; before, files beside the database held it.
ALTER TABLE sweep ADD COLUMN title TEXT NOT NULL DEFAULT '';
ALTER TABLE sweep ADD COLUMN scale TEXT NOT NULL DEFAULT 'unknown';  -- empty: the file as written
ALTER TABLE sweep ADD COLUMN baseline TEXT NOT NULL DEFAULT '';      -- a case
ALTER TABLE sweep ADD COLUMN command TEXT NOT NULL DEFAULT '';       -- that trains what is left
ALTER TABLE sweep ADD COLUMN points TEXT NOT NULL DEFAULT '';        -- file and options of `deft run`
ALTER TABLE sweep ADD COLUMN paper TEXT NOT NULL DEFAULT '';         -- the published table beside it

-- What had been drawn from the training samples up to a step; the series of before took fifteen rows a step.
CREATE TABLE sampling_point (
  attempt_id INTEGER NOT NULL REFERENCES attempt(id) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  pool INTEGER NOT NULL,               -- samples that are admitted
  drawn INTEGER NOT NULL, repeated INTEGER NOT NULL,
  cut_tokens INTEGER NOT NULL, padded_tokens INTEGER NOT NULL,
  PRIMARY KEY (attempt_id, step)
) STRICT, WITHOUT ROWID;
INSERT INTO sampling_point
SELECT p.attempt_id, p.step,
  CAST(ifnull(max(CASE m.name WHEN 'sampling pool' THEN p.value END), 0) AS INTEGER),
  CAST(ifnull(max(CASE m.name WHEN 'samples drawn' THEN p.value END), 0) AS INTEGER),
  CAST(ifnull(max(CASE m.name WHEN 'samples repeated' THEN p.value END), 0) AS INTEGER),
  CAST(ifnull(max(CASE m.name WHEN 'tokens cut' THEN p.value END), 0) AS INTEGER),
  CAST(ifnull(max(CASE m.name WHEN 'tokens padded' THEN p.value END), 0) AS INTEGER)
FROM metric_point p JOIN metric m ON m.id = p.metric_id GROUP BY p.attempt_id, p.step;
UPDATE attempt SET epochs_json = (
  SELECT json_group_array(value) FROM (
    SELECT p.value FROM metric_point p JOIN metric m ON m.id = p.metric_id
    WHERE p.attempt_id = attempt.id AND m.name LIKE 'epochs, part % by difficulty'
    AND p.step = (SELECT max(s.step) FROM sampling_point s WHERE s.attempt_id = attempt.id)
    ORDER BY CAST(substr(m.name, 14) AS INTEGER)))
WHERE id IN (SELECT attempt_id FROM sampling_point);
DROP TABLE metric_point;
DELETE FROM metric WHERE id NOT IN (SELECT metric_id FROM evaluation);

DROP VIEW v_result;
DROP VIEW v_replay;
DROP TABLE event;
DROP TABLE driver;

-- The steps of each attempt that the result of its experiment was built on: those after after_step, up to last_step
-- (NULL: all). The result is the newest attempt that ended ok, or the newest. A step counts until a later attempt, up
-- to the result, has gone on from before it: resume_step is what a trial says when it starts, 0 from the start. An
-- attempt without one never trained, unless it is of a time before checkpoints and has points.
DROP VIEW v_curve;
CREATE VIEW v_kept AS
SELECT a.experiment_id, a.id AS attempt_id, a.id = s.id AS is_result, ifnull(a.resume_step, 0) AS after_step,
  (SELECT min(ifnull(b.resume_step, 0)) FROM attempt b
   WHERE b.experiment_id = a.experiment_id AND b.number > a.number AND b.number <= s.number
   AND (b.resume_step IS NOT NULL OR EXISTS (SELECT 1 FROM train_point q WHERE q.attempt_id = b.id))) AS last_step
FROM attempt a
CROSS JOIN attempt s ON s.id = (SELECT c.id FROM attempt c WHERE c.experiment_id = a.experiment_id
                                ORDER BY c.state = 'ok' DESC, c.number DESC LIMIT 1)
WHERE a.number <= s.number;
CREATE VIEW v_curve AS
SELECT k.experiment_id, p.* FROM v_kept k CROSS JOIN train_point p ON p.attempt_id = k.attempt_id
WHERE p.step <= ifnull(k.last_step, 9223372036854775807);
CREATE VIEW v_sampling AS
SELECT k.experiment_id, p.* FROM v_kept k CROSS JOIN sampling_point p ON p.attempt_id = k.attempt_id
WHERE p.step <= ifnull(k.last_step, 9223372036854775807);
)sql";

}  // namespace deft::results_db
