#include "results_db/views.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

#include "base/error.h"
#include "results_db/schema.h"

namespace deft::results_db {

namespace {

// In the text of each view: it distinguishes them from views that somebody added.
constexpr const char* kMark = "-- deft: docs/sql-views.md";

// The cost of the training that a result was built on: the part `training` of results_db/cost_parts.cpp, of attempts
// that count (results_db/attempt_rows.cpp). `worker` is the text of reporting/analysis/cost/slot_shapes.h.
constexpr const char* kCost = R"sql(CREATE VIEW v_cost AS
-- deft: docs/sql-views.md
SELECT experiment_id, attempt_id, number, train_seconds, is_timed,
  train_seconds * devices / trials_per_device AS device_seconds,
  train_seconds * devices / trials_per_device / 3600.0 * usd_per_hour AS usd,
  CASE
    WHEN cpu_model = '' THEN shape || CASE gpu WHEN '' THEN '' ELSE ', ' || gpu END
    WHEN device = 'cpu' THEN shape || ' of ' || cpu_model || ' (' || cores || ' cores)'
    ELSE shape || ', ' || CASE gpu WHEN '' THEN 'of unknown kind' ELSE gpu END || ', beside ' || cpu_model || ' ('
      || cores || ' cores)'
  END AS worker
FROM (
  SELECT experiment_id, attempt_id, number, devices, trials_per_device, usd_per_hour, device, cpu_model, cores, gpu,
    own_seconds IS NOT NULL AS is_timed,
    CASE ranks WHEN 1 THEN '' ELSE ranks || ' ranks on ' END || CASE
      WHEN device = 'cpu' THEN devices || CASE devices WHEN 1 THEN ' thread' ELSE ' threads' END
      WHEN trials_per_device > 1 THEN '1/' || trials_per_device || ' of ' || devices
        || CASE devices WHEN 1 THEN ' GPU' ELSE ' GPUs' END
      ELSE devices || CASE devices WHEN 1 THEN ' GPU' ELSE ' GPUs' END
    END AS shape,
    CASE
      WHEN state = 'ok' AND last_step IS NULL THEN ifnull(own_seconds, 0.0)
      WHEN train_seconds IS NOT NULL AND undone = 0.0
        AND (saved IS NULL OR ifnull(own_seconds, 0.0) - saved < 2e-3) THEN ifnull(own_seconds, 0.0)
      WHEN saved IS NOT NULL THEN saved
      ELSE max(0.0, ifnull(own_seconds, 0.0) - undone)
    END AS train_seconds
  FROM (
    SELECT k.experiment_id, k.attempt_id, k.last_step, a.number, a.state, a.own_seconds, a.train_seconds, a.device,
      a.devices, a.trials_per_device, a.ranks, a.usd_per_hour, h.cpu_model, h.cores,
      CASE instr(a.slots_json, '"gpu_name":"') WHEN 0 THEN '' ELSE substr(a.slots_json,
        instr(a.slots_json, '"gpu_name":"') + 12,
        instr(substr(a.slots_json, instr(a.slots_json, '"gpu_name":"') + 12), '"') - 1) END AS gpu,
      -- logged after the step that a later attempt went on from
      CASE WHEN k.last_step IS NULL THEN 0.0 ELSE ifnull((SELECT (max(p.wall_ms) - ifnull(max(CASE WHEN
        p.step <= k.last_step THEN p.wall_ms END), min(p.wall_ms))) / 1000.0 FROM train_point p
        WHERE p.attempt_id = k.attempt_id), 0.0) END AS undone,
      -- at the checkpoint that a later attempt went on from, or the last one
      (SELECT s.train_seconds FROM spent s WHERE s.attempt_id = k.attempt_id AND s.step = ifnull(k.last_step, s.step)
        ORDER BY s.step DESC LIMIT 1) AS saved
    FROM v_kept k JOIN attempt a ON a.id = k.attempt_id LEFT JOIN host h ON h.id = a.host_id
    WHERE a.ended_ms > 0 AND (k.is_result OR k.last_step IS NULL OR k.last_step > k.after_step)
  )
))sql";

// Places as results_db/sweep_places.cpp shows them, with the attempt and the last point of results_db/reader.cpp.
constexpr const char* kTrial = R"sql(CREATE VIEW v_trial AS
-- deft: docs/sql-views.md
SELECT t.sweep, t.spec_sha256, t.is_newest, t.ordinal, t.stage, t.is_search, t.recipe, t.axes,
  -- as reporting/analysis/results/rows.cpp reads it: of later stages that of what they start from
  CASE
    WHEN instr(t.axes, 'train.budget_fraction":') = 0 THEN NULL
    WHEN instr(substr(t.axes, instr(t.axes, 'train.budget_fraction":') + 1), 'train.budget_fraction":') > 0 THEN NULL
    ELSE CAST(substr(t.axes, instr(t.axes, 'train.budget_fraction":') + 23) AS REAL)
  END AS budget_fraction,
  t.seed, t.seeds, t.config_hash, t.variant_hash, t.state, ifnull(a.fail_class, '') AS fail_class,
  ifnull(a.error, '') AS error,
  (SELECT count(*) FROM attempt b WHERE b.experiment_id = t.experiment_id AND b.kind = 'train') AS attempts,
  p.step AS steps, a.total_steps AS planned_steps, p.tokens AS input_tokens, p.unique_tokens, p.layer_tokens, p.flops,
  p.wall_ms / 1000.0 AS train_seconds,
  CASE t.is_imported WHEN 0 THEN (SELECT sum(c.device_seconds) FROM v_cost c
    WHERE c.experiment_id = t.experiment_id) END AS device_seconds,
  CASE t.is_imported WHEN 0 THEN (SELECT CASE WHEN max(c.is_timed) AND min(NOT c.is_timed OR c.usd IS NOT NULL)
    THEN sum(c.usd) END FROM v_cost c WHERE c.experiment_id = t.experiment_id) END AS usd,
  a.parameters, CASE a.active_parameters WHEN 0 THEN a.parameters ELSE a.active_parameters END AS active_parameters,
  a.peak_rss_bytes AS peak_memory_bytes, a.device, a.devices, a.trials_per_device, a.ranks,
  (SELECT count(DISTINCT c.worker) FROM v_cost c WHERE c.experiment_id = t.experiment_id AND c.train_seconds > 0)
    AS workers,
  (SELECT CASE count(DISTINCT c.worker) WHEN 1 THEN max(c.worker) END FROM v_cost c
    WHERE c.experiment_id = t.experiment_id AND c.train_seconds > 0) AS worker,
  CASE instr(a.machine_json, '"hostname":"') WHEN 0 THEN h.hostname ELSE substr(a.machine_json,
    instr(a.machine_json, '"hostname":"') + 12,
    instr(substr(a.machine_json, instr(a.machine_json, '"hostname":"') + 12), '"') - 1) END AS host,
  h.cpu_model AS cpu,
  CASE instr(a.slots_json, '"gpu_name":"') WHEN 0 THEN '' ELSE substr(a.slots_json,
        instr(a.slots_json, '"gpu_name":"') + 12,
        instr(substr(a.slots_json, instr(a.slots_json, '"gpu_name":"') + 12), '"') - 1) END AS gpu,
  a.launcher, a.job, a.queue_seconds, c.git_sha, c.dirty, c.diff_sha256, c.binary_sha256, d.name AS dataset, d.sha256 AS dataset_sha256,
  a.started_ms, a.ended_ms, a.uid AS attempt,
  CASE instr(e.config_json, '"result_epoch":') WHEN 0 THEN NULL
    ELSE CAST(substr(e.config_json, instr(e.config_json, '"result_epoch":') + 15) AS INTEGER) END AS result_epoch,
  t.is_imported, t.newer_state, t.newer_hash, t.sweep_id, t.experiment_id
FROM (
  SELECT *, row_number() OVER (PARTITION BY sweep_id, stage, recipe, axes, seeds
      ORDER BY state = 'ok' DESC, ordinal, seed, use_order DESC, experiment_id DESC) AS shown,
    CASE WHEN state = 'ok' AND first_value(state) OVER newest <> 'ok' THEN first_value(state) OVER newest ELSE ''
      END AS newer_state,
    CASE WHEN state = 'ok' AND first_value(state) OVER newest <> 'ok' THEN first_value(config_hash) OVER newest ELSE ''
      END AS newer_hash
  FROM (
    SELECT s.name AS sweep, s.spec_sha256, s.use_order = (SELECT max(n.use_order) FROM sweep n WHERE n.name = s.name)
        AS is_newest,
      m.ordinal, m.stage, m.stage = 'search' AS is_search, m.case_key AS recipe, m.axes_json AS axes, e.seed,
      CASE m.seeds WHEN '' THEN CAST(e.seed AS TEXT) ELSE m.seeds END AS seeds, e.config_hash, e.variant_hash,
      ifnull(a.state, 'pending') AS state, m.imported_json <> '' AS is_imported, m.use_order, m.sweep_id,
      m.experiment_id, a.id AS attempt_id
    FROM sweep_member m JOIN sweep s ON s.id = m.sweep_id JOIN experiment e ON e.id = m.experiment_id
    LEFT JOIN attempt a ON a.id = (SELECT b.id FROM attempt b WHERE b.experiment_id = e.id AND b.kind = 'train'
      ORDER BY b.state = 'ok' DESC, b.number DESC LIMIT 1)
  )
  WINDOW newest AS (PARTITION BY sweep_id, stage, recipe, axes, seeds
    ORDER BY ordinal, seed, use_order DESC, experiment_id DESC)
) t
JOIN experiment e ON e.id = t.experiment_id
LEFT JOIN attempt a ON a.id = t.attempt_id
LEFT JOIN code c ON c.id = a.code_id
LEFT JOIN host h ON h.id = a.host_id
LEFT JOIN dataset d ON d.id = a.dataset_id
LEFT JOIN train_point p ON p.attempt_id = (
    SELECT k.attempt_id FROM v_kept k WHERE k.experiment_id = t.experiment_id
    ORDER BY (SELECT max(q.step) FROM train_point q WHERE q.attempt_id = k.attempt_id
      AND q.step <= ifnull(k.last_step, 9223372036854775807)) DESC LIMIT 1)
  AND p.step = (SELECT max(q.step) FROM v_kept k CROSS JOIN train_point q ON q.attempt_id = k.attempt_id
    WHERE k.experiment_id = t.experiment_id AND q.step <= ifnull(k.last_step, 9223372036854775807))
WHERE t.shown = 1)sql";

// The scores of results_db/score_rows.cpp.
constexpr const char* kScore = R"sql(CREATE VIEW v_score AS
-- deft: docs/sql-views.md
SELECT sweep, spec_sha256, is_newest, stage, is_search, recipe, axes, budget_fraction, seed, seeds, config_hash, state,
  task, split, shots, metric, unit, direction, under_capacity, value, kind, standard_error, n, chance, is_asked,
  is_of_result, step, score_key, model_sha256, task_version, task_sha256, definition_sha256, scoring_version, git_sha,
  attempt, sweep_id, experiment_id
FROM (
  SELECT *, row_number() OVER (
    PARTITION BY sweep_id, stage, recipe, axes, seeds, task, split, shots, metric, unit, direction
    ORDER BY is_asked DESC, is_of_result DESC, is_whole DESC, number DESC, step DESC, task_version DESC, id DESC) AS shown
  FROM (
    SELECT t.*, v.id, v.task, v.split, v.shots, m.name AS metric, m.unit, m.better AS direction,
      substr(v.score_key, 1, 9) = 'capacity-' AS under_capacity, v.value,
      CASE v.kind WHEN 0 THEN 'finite' WHEN 1 THEN 'nan' WHEN 2 THEN 'inf' ELSE '-inf' END AS kind,
      v.stderr AS standard_error, v.n, v.chance, v.step, v.score_key, ifnull(s.model_sha256, '') AS model_sha256,
      v.task_version, ifnull(s.task_sha256, '') AS task_sha256, ifnull(s.definition_sha256, '') AS definition_sha256,
      s.scoring_version, c.git_sha, a.uid AS attempt, a.number, a.kind = 'score' OR a.state = 'ok' AS is_whole,
      v.score_key <> '' AND instr(t.scores_json, '"' || v.score_key || '"') > 0 AS is_asked,
      ifnull(s.model_sha256, '') = '' OR t.model IS NULL OR s.model_sha256 = t.model AS is_of_result
    FROM (
      SELECT r.sweep, r.spec_sha256, r.is_newest, r.stage, r.is_search, r.recipe, r.axes, r.budget_fraction, r.seed,
        r.seeds, r.config_hash, r.state, r.sweep_id, r.experiment_id, g.scores_json,
        -- the checkpoint that is scored
        (SELECT f.sha256 FROM attempt b JOIN attempt_artifact l ON l.attempt_id = b.id
          JOIN artifact f ON f.id = l.artifact_id WHERE b.experiment_id = r.experiment_id AND b.kind = 'train'
          AND b.state = 'ok' AND f.kind = 'checkpoint' ORDER BY b.number DESC, l.step DESC LIMIT 1) AS model
      FROM v_trial r JOIN sweep_member g ON g.sweep_id = r.sweep_id AND g.experiment_id = r.experiment_id
        AND g.case_key = r.recipe AND g.axes_json = r.axes
      WHERE r.state <> 'pending'
    ) t
    JOIN attempt a ON a.experiment_id = t.experiment_id
    JOIN evaluation v ON v.attempt_id = a.id
    JOIN metric m ON m.id = v.metric_id
    JOIN code c ON c.id = v.code_id
    LEFT JOIN score s ON s.attempt_id = a.id AND s.score_key = v.score_key
    WHERE (s.id IS NOT NULL OR a.kind = 'train') AND v.score_key <> 'while training'
  )
)
WHERE shown = 1)sql";

// Every logged step of the training that the result was built on, and the validation there: results_db/reader.cpp.
constexpr const char* kCurve = R"sql(CREATE VIEW v_curve AS
-- deft: docs/sql-views.md
SELECT k.experiment_id, p.attempt_id, p.step, p.tokens, p.unique_tokens, p.layer_tokens, p.flops, p.wall_ms, p.loss,
  p.lr, p.grad_norm, p.tok_per_s, p.seqlen, p.kept_tokens, p.nonfinite, p.sent_bytes, p.expert_bytes,
  p.wall_ms / 1000.0 AS seconds,
  (SELECT v.value FROM attempt a CROSS JOIN evaluation v ON v.attempt_id = a.id JOIN metric m ON m.id = v.metric_id
    WHERE a.experiment_id = k.experiment_id AND v.step = p.step AND v.task = 'validation' AND m.name = 'loss'
    AND m.unit = 'nats/token' AND (
      a.kind = 'train' AND EXISTS (SELECT 1 FROM v_kept o WHERE o.attempt_id = a.id
        AND v.step BETWEEN o.after_step AND ifnull(o.last_step, 9223372036854775807))
      OR a.kind <> 'train' AND a.number > (SELECT r.number FROM attempt r WHERE r.experiment_id = k.experiment_id
        AND r.kind = 'train' ORDER BY r.state = 'ok' DESC, r.number DESC LIMIT 1))
    ORDER BY a.number DESC, v.id DESC LIMIT 1) AS validation_loss,
  (SELECT e.config_hash FROM experiment e WHERE e.id = k.experiment_id) AS config_hash
FROM v_kept k CROSS JOIN train_point p ON p.attempt_id = k.attempt_id
WHERE p.step <= ifnull(k.last_step, 9223372036854775807))sql";

// Means as reporting/analysis/comparison/columns.cpp takes them: of each seed of the first stage, and over these.
constexpr const char* kRow = R"sql(CREATE VIEW v_row AS
-- deft: docs/sql-views.md
WITH unit AS (  -- a seed of a row, with what its trials used
  SELECT sweep_id, stage, recipe, axes, seed_of_unit, count(*) AS trials,
    CASE WHEN count(steps) = count(*) THEN avg(steps) END AS steps,
    CASE WHEN count(input_tokens) = count(*) THEN avg(input_tokens) END AS input_tokens,
    CASE WHEN count(unique_tokens) = count(*) THEN avg(unique_tokens) END AS unique_tokens,
    CASE WHEN count(layer_tokens) = count(*) THEN avg(layer_tokens) END AS layer_tokens,
    CASE WHEN count(flops) = count(*) THEN avg(flops) END AS flops,
    CASE WHEN count(train_seconds) = count(*) THEN avg(train_seconds) END AS train_seconds,
    CASE WHEN count(device_seconds) = count(*) THEN avg(device_seconds) END AS device_seconds,
    CASE WHEN count(usd) = count(*) THEN avg(usd) END AS usd,
    max(parameters) AS parameters, min(worker) AS least_worker, max(worker) AS greatest_worker,
    max(workers) AS workers
  FROM (SELECT *, CASE instr(seeds, '.') WHEN 0 THEN seeds ELSE substr(seeds, 1, instr(seeds, '.') - 1) END
      AS seed_of_unit FROM v_trial WHERE state = 'ok')
  GROUP BY sweep_id, stage, recipe, axes, seed_of_unit
), cost AS (
  SELECT sweep_id, stage, recipe, axes, count(*) AS seeds, sum(trials) AS trials,
    CASE WHEN count(steps) = count(*) THEN avg(steps) END AS steps,
    CASE WHEN count(input_tokens) = count(*) THEN avg(input_tokens) END AS input_tokens,
    CASE WHEN count(unique_tokens) = count(*) THEN avg(unique_tokens) END AS unique_tokens,
    CASE WHEN count(layer_tokens) = count(*) THEN avg(layer_tokens) END AS layer_tokens,
    CASE WHEN count(flops) = count(*) THEN avg(flops) END AS flops,
    CASE WHEN count(train_seconds) = count(*) THEN avg(train_seconds) END AS train_seconds,
    CASE WHEN count(device_seconds) = count(*) THEN avg(device_seconds) END AS device_seconds,
    CASE WHEN count(usd) = count(*) THEN avg(usd) END AS usd,
    max(parameters) AS parameters,
    max(workers) > 1 OR min(least_worker) <> max(greatest_worker) AS is_mixed
  FROM unit GROUP BY sweep_id, stage, recipe, axes
), scored AS (  -- a seed's mean
  SELECT sweep_id, stage, recipe, axes, sweep, spec_sha256, is_newest, is_search, budget_fraction, task, split, shots,
    metric, unit, direction, under_capacity, count(*) AS trials, min(n) AS documents,
    CASE WHEN count(value) = count(*) THEN avg(value) END AS value,
    CASE WHEN min(ifnull(chance, -1e999)) = max(ifnull(chance, -1e999)) THEN max(chance) END AS chance,
    CASE instr(seeds, '.') WHEN 0 THEN seeds ELSE substr(seeds, 1, instr(seeds, '.') - 1) END AS seed_of_unit
  FROM v_score WHERE state = 'ok'
  GROUP BY sweep_id, stage, recipe, axes, task, split, shots, metric, unit, direction, under_capacity, seed_of_unit
), centered AS (
  SELECT *, avg(value) OVER (PARTITION BY sweep_id, stage, recipe, axes, task, split, shots, metric, unit, direction,
    under_capacity) AS center FROM scored
)
SELECT s.sweep, s.spec_sha256, s.is_newest, s.stage, s.is_search, s.recipe, s.axes, s.budget_fraction, s.task, s.split,
  s.shots, s.metric, s.unit, s.direction, s.under_capacity,
  CASE WHEN count(s.value) = count(*) THEN max(s.center) END AS mean,
  CASE WHEN count(s.value) = count(*) AND count(*) > 1
    THEN sqrt(sum((s.value - s.center) * (s.value - s.center)) / (count(*) - 1)) END AS sd,
  count(*) AS n, c.seeds, sum(s.trials) AS scored_trials, c.trials, min(s.documents) AS documents,
  CASE WHEN min(ifnull(s.chance, -1e999)) = max(ifnull(s.chance, -1e999)) THEN max(s.chance) END AS chance,
  c.steps, c.input_tokens, c.unique_tokens, c.layer_tokens, c.flops,
  CASE c.is_mixed WHEN 1 THEN NULL ELSE c.train_seconds END AS train_seconds, c.device_seconds,
  CASE c.is_mixed WHEN 1 THEN NULL ELSE c.usd END AS usd, c.parameters, s.sweep_id
FROM centered s JOIN cost c USING (sweep_id, stage, recipe, axes)
GROUP BY s.sweep_id, s.stage, s.recipe, s.axes, s.task, s.split, s.shots, s.metric, s.unit, s.direction,
  s.under_capacity)sql";

// The schema's entry of a name; empty: none.
struct SchemaEntry {
    std::string type, sql;
};

SchemaEntry schema_entry(Connection& connection, const char* name) {
    Statement query(connection, "SELECT type, ifnull(sql, '') FROM sqlite_schema WHERE name = ?1 COLLATE NOCASE");
    if (!query.bind(name).step()) return {};
    return {query.text(0), query.text(1)};
}

// Made by a deft: one of this file, or the view of that name that the schema begins with.
bool is_view_of_deft(const SchemaEntry& found) {
    return found.type == "view" &&
           (found.sql.find(kMark) != std::string::npos ||
            std::string_view(migrations().front().sql).find(found.sql) != std::string_view::npos);
}

void require_view_of_deft(Connection& connection, const char* name, const SchemaEntry& found) {
    if (found.type.empty() || is_view_of_deft(found)) return;
    throw Error(ErrorKind::database,
                fmt::format("{} has a {} named {}, which deft did not make", connection.file(), found.type, name),
                fmt::format("deft needs the name for a view of its own: rename that {0} or drop it, with a copy of "
                            "the file at hand: sqlite3 {1}",
                            found.type, connection.file()),
                "the database");
}

}  // namespace

std::span<const View> views() {
    static const std::array all = {View{"v_cost", kCost}, View{"v_trial", kTrial}, View{"v_score", kScore},
                                   View{"v_curve", kCurve}, View{"v_row", kRow}};
    return all;
}

void drop_views(Connection& connection) {
    for (const View& view : views()) {
        const SchemaEntry found = schema_entry(connection, view.name);
        require_view_of_deft(connection, view.name, found);
        if (!found.type.empty()) connection.execute(fmt::format("DROP VIEW {}", view.name).c_str());
    }
}

bool has_current_views(Connection& connection) {
    for (const View& view : views())
        if (schema_entry(connection, view.name).sql != view.sql) return false;
    return true;
}

void replace_views(Connection& connection) {
    drop_views(connection);
    for (const View& view : views()) connection.execute(view.sql);
}

}  // namespace deft::results_db
