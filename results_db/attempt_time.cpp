#include "results_db/attempt_time.h"

#include <algorithm>

namespace deft::results_db {

namespace {

// At the step that a later attempt went on from; without one the last, if there is any.
std::optional<Spent> spent_until(Connection& connection, std::int64_t attempt_id,
                                 const std::optional<std::int64_t>& step) {
    Statement query(connection,
                    "SELECT elapsed_seconds, train_seconds, eval_seconds, waited_seconds FROM spent"
                    " WHERE attempt_id = ?1 AND step = ifnull(?2, step) ORDER BY step DESC LIMIT 1");
    if (!query.bind(attempt_id, step).step()) return std::nullopt;
    return Spent{query.real(0), query.real(1), query.real(2), query.real(3)};
}

// Seconds of training logged after the last line up to that step.
double seconds_after(Connection& connection, std::int64_t attempt_id, const std::optional<std::int64_t>& step) {
    if (!step) return 0;
    Statement query(connection,
                    "SELECT max(wall_ms) - ifnull(max(CASE WHEN step <= ?2 THEN wall_ms END), min(wall_ms))"
                    " FROM train_point WHERE attempt_id = ?1");
    return query.bind(attempt_id, *step).step() ? query.real(0) / 1000 : 0;
}

// Where a driver waited for the process, it saw both ends.
std::optional<double> observed_seconds(const AttemptRow& attempt) {
    const bool is_seen = attempt.exit_code || attempt.term_signal;
    if (attempt.started_ms == 0) return is_seen ? std::nullopt : std::optional(0.0);
    if (!is_seen) return std::nullopt;
    return static_cast<double>(std::max<std::int64_t>(0, attempt.ended_ms - attempt.started_ms)) / 1000;
}

}  // namespace

void add_time(Connection& connection, std::int64_t attempt_id, AttemptRow& attempt) {
    if (attempt.ended_ms <= 0) return;
    Statement query(connection,
                    "SELECT (SELECT k.last_step FROM v_kept k WHERE k.attempt_id = ?1),"
                    " (SELECT sum(s.seconds) FROM score s WHERE s.attempt_id = ?1)");
    if (!query.bind(attempt_id).step()) return;
    const std::optional<std::int64_t> kept_to = query.maybe_integer(0);
    if (!attempt.held_seconds) attempt.held_seconds = observed_seconds(attempt);
    AttemptTime time;
    time.is_scoring = attempt.work == Work::score;
    time.is_ok = attempt.state == "ok";
    time.records_its_end = attempt.train_seconds.has_value();
    time.scoring = attempt.eval_seconds.value_or(query.real(1));
    time.waiting = attempt.waited_seconds;
    time.held = attempt.held_seconds;
    time.training = attempt.own_seconds.value_or(0);
    time.is_kept = time.is_scoring ? time.is_ok || !query.is_null(1) : attempt.counts;
    time.is_continued = kept_to.has_value();
    time.behind_kept = seconds_after(connection, attempt_id, kept_to);
    time.kept = spent_until(connection, attempt_id, kept_to);
    attempt.seconds = parts_of(time);
}

}  // namespace deft::results_db
