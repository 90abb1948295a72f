#include "results_db/schema.h"

namespace deft::results_db {

const char* const kSchemaV12 = R"sql(
-- The data of a case may change, or the program: its place in a sweep then has another training than before. The greatest
-- is the one that was planned last; 0: by a program that kept no order.
ALTER TABLE sweep_member ADD COLUMN use_order INTEGER NOT NULL DEFAULT 0;
-- What the score was of, so that a change of it can be told: the task's file alone, and kScoringVersion of
-- base/score_key.h, which was 1 in all programs before.
ALTER TABLE score ADD COLUMN definition_sha256 TEXT NOT NULL DEFAULT '';  -- empty: unknown
ALTER TABLE score ADD COLUMN scoring_version INTEGER NOT NULL DEFAULT 1;
)sql";

}  // namespace deft::results_db
