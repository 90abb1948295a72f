#include "results_db/tables.h"

namespace deft::results_db {

std::vector<Table> tables() {
    return {{"code", joined({kCodeColumns}), {"id", "fingerprint", "diff_zst"}},
            {"host", joined({kHostColumns}), {"id", "fingerprint"}},
            {"dataset", joined({kDatasetColumns}), {"id"}},
            {"sweep", joined({kSweepColumns}), {"id", "uid", "file_sha256", "use_order"}},
            {"experiment", joined({kTrialColumns}), {"id", "config_json"}},
            {"attempt",
             joined({kAttemptColumns, kShapeColumns, kPriceColumns, kLocalColumns}),
             {"id", "experiment_id", "code_id", "host_id", "dataset_id", "pid", "pid_start_ticks", "boot_id",
              "spool_bytes", "spool_lines", "resumed_from"}},
            {"spent", joined({kSpentColumns}), {"attempt_id"}},
            {"score", joined({kScoredColumns, kScoredModelColumns, kScoringColumns}), {"id", "attempt_id", "items"}},
            {"evaluation",
             joined({kScoredTaskColumns, kEvaluationColumns}),
             {"id", "attempt_id", "checkpoint_id", "code_id", "metric_id", "value", "kind"}},
            {"metric", joined({kMetricColumns}), {"id"}},
            {"verdict", joined({kVerdictColumns}), {"id"}},
            {"baseline", joined({kBaselineColumns}), {"id"}}};
}

}  // namespace deft::results_db
