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

}  // namespace deft::results_db
