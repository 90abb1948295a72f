#include "results_db/schema.h"

namespace deft::results_db {

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

}  // namespace deft::results_db
