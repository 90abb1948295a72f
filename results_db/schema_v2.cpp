#include "results_db/schema.h"

namespace deft::results_db {

const char* const kSchemaV2 = R"sql(
-- The curve of an experiment over its attempts: a point counts until a later attempt has gone on from before it.
-- resume_step is what a trial says when it starts, 0 from the start; an attempt without one never trained, unless it is
-- of a time before checkpoints and has points.
DROP VIEW v_curve;
CREATE VIEW v_curve AS
SELECT a.experiment_id, p.* FROM train_point p JOIN attempt a ON a.id = p.attempt_id
WHERE NOT EXISTS (
  SELECT 1 FROM attempt b WHERE b.experiment_id = a.experiment_id AND b.number > a.number
  AND (b.resume_step < p.step
       OR (b.resume_step IS NULL AND EXISTS (SELECT 1 FROM train_point q WHERE q.attempt_id = b.id))));
)sql";

}  // namespace deft::results_db
