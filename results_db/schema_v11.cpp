#include "results_db/schema.h"

namespace deft::results_db {

// SQLite changes a CHECK only by recreating its table.
const char* const kSchemaV11 = R"sql(
CREATE TABLE verdict_11 (              -- append-only
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
  words TEXT NOT NULL                  -- the finding as it was told
) STRICT;
INSERT INTO verdict_11 SELECT id, check_uid, created_ms, kind, subject_json, rule_json, effect, ci_lo, ci_hi,
  applied_limit, p_raw, p_adj, result, words FROM verdict;
DROP TABLE verdict;
ALTER TABLE verdict_11 RENAME TO verdict;
CREATE INDEX verdict_check ON verdict(check_uid);
CREATE TRIGGER verdict_ro_u BEFORE UPDATE ON verdict BEGIN SELECT RAISE(ABORT,'verdict is append-only'); END;
CREATE TRIGGER verdict_ro_d BEFORE DELETE ON verdict BEGIN SELECT RAISE(ABORT,'verdict is append-only'); END;
)sql";

}  // namespace deft::results_db
